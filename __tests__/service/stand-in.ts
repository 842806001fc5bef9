import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const JTL_HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect'

/** Writes an executable script and returns its path. */
export function writeScript(path: string, lines: readonly string[]): string {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(path, 0o755)
  return path
}

/** The shell commands of a stand-in that exits at once, without JMeter's message for the end of a test. */
export const HALT = 'trap - EXIT; exit 0'

/** A stand-in for JMeter in a folder that `JMETER_HOME` can point to; `lines` run with the samples file as `$samples` and the tool's log as `$log`. */
export function writeJMeter(home: string, lines: readonly string[], version = '9.8.7'): string {
  writeScript(join(home, 'bin', 'jmeter'), [
    // As the JVM would that has the agent; the word is the last of its arguments.
    `if [ "$1" = --version ]; then`,
    `  case "$JDK_JAVA_OPTIONS" in *";"*) echo "$JDK_JAVA_OPTIONS" | sed 's/.*;//; s/"//' ;; esac`,
    `  echo "JMeter ${version}"; exit 0`,
    'fi',
    `trap 'if [ $? = 0 ]; then echo "... end of run"; fi' EXIT`,
    'samples=; plan=; log=; previous=',
    'for argument in "$@"; do',
    '  if [ "$previous" = -l ]; then samples=$argument; fi',
    '  if [ "$previous" = -t ]; then plan=$argument; fi',
    '  if [ "$previous" = -j ]; then log=$argument; fi',
    '  previous=$argument',
    'done',
    `echo '${JTL_HEADER}' > "$samples"`,
    ...lines
  ])
  return home
}

/** A shell command that writes one sample. */
export const writeSample = (label: string): string =>
  `echo "$(date +%s)000,12,${label},200,OK,t 1-1,text,true,,1,1,1,1,null,12,0,1" >> "$samples"`

/** A tool that starts a child, writes both process ids and runs until it is ended. A deaf child ignores TERM. */
export const runEndlessly = (pidFile: string, child: 'deaf' | 'obedient' = 'obedient'): string[] => [
  `(${child === 'deaf' ? "trap '' TERM; " : ''}while :; do sleep 0.1; done) &`,
  // First, so that there is a sample once the ids can be read.
  writeSample('endless'),
  `echo "$$ $!" > "${pidFile}.new"; mv "${pidFile}.new" "${pidFile}"`,
  'while :; do sleep 0.1; done'
]
