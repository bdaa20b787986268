'use strict'

const DEFAULTS = {
  bodyLimit: 1048576,
  requestTimeout: 60000,
  trustProxy: false,
  maxParamLength: 200,
  keepAliveTimeout: 72000,
  caseSensitive: true
}

/**
 * Makes a server.
 * @param {object} options
 * @param {number} [options.bodyLimit=1048576] bytes
 * @param {number} [options.maxHeaders=50] headers that are read
 */
function loft (options) {
  const { maxHeaders = 100 } = options
  const port = Number(process.env.LOFT_PORT || 8000)
  return { ...DEFAULTS, ...options, maxHeaders, port }
}

module.exports = loft
