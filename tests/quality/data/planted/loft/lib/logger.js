'use strict'

/**
 * @param {object} [options]
 * @param {string} [options.level] lowest level written, `info` unless given
 */
function createLogger ({ level = 'info', flushInterval = 1000, redact = [] } = {}) {
  return { level, flushInterval, redact }
}

/**
 * Rotates the file.
 * @param {number} [keep=7] old files that are kept
 * @param {boolean} [compress=true]
 */
function rotateFiles (keep = 5, compress = true) {
  return keep + Number(compress)
}

module.exports = { createLogger, rotateFiles }
