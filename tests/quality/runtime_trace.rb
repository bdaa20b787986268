# Writes which methods of a Ruby library call which, as a program runs: the truth of `callgraph_runtime`.
#
#     LCI_TRACE_ROOT=CHECKOUT/lib LCI_TRACE_OUT=calls.tsv RUBYOPT=-rFOLDER/runtime_trace.rb ruby -Ilib -Itest ...
#
# The output is that of runtime_trace.py. Methods of C between two of the library are passed over (`each` calls a block),
# those of other libraries are not.

require "set"

module LciTrace
  ROOT = File.realpath(ENV.fetch("LCI_TRACE_ROOT")) + "/"
  PAIRS = Set.new
  PATHS = Hash.new do |known, path|
    full = begin
      File.realpath(path)
    rescue SystemCallError
      path
    end
    known[path] = full.start_with?(ROOT) ? full[ROOT.size..] : nil
  end

  TRACE = TracePoint.new(:call) do |point|
    callee = PATHS[point.path]
    next unless callee

    site = caller_locations(2, 1)&.first
    path = site && site.absolute_path && PATHS[site.absolute_path] # none for code that is put together at run time
    PAIRS << [path, site.lineno, callee, point.lineno, point.method_id] if path
  end

  at_exit do
    TRACE.disable
    File.open(ENV.fetch("LCI_TRACE_OUT"), "a") { |out| PAIRS.each { |pair| out.puts(pair.join("\t")) } }
  end
  TRACE.enable
end
