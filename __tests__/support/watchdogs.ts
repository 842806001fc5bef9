import { execFileSync } from 'node:child_process'

/** The watchdogs that a process has started for its tools. */
export function watchdogsOf(pid: number): number[] {
  const lines = execFileSync('ps', ['-axo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, own, parent] = /^\s*(\d+)\s+(\d+)\s+\/bin\/sh -c/.exec(line) ?? []
    return Number(parent) === pid ? [Number(own)] : []
  })
}

/** As when everything of a job is killed at once: nobody is left to end the tool. */
export function killWatchdogs(pid: number): void {
  for (const watchdog of watchdogsOf(pid)) killIfAlive(watchdog)
}

/** A shell may have exited since it was listed: a process looks like one between its fork and its exec. */
function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown
  }
}
