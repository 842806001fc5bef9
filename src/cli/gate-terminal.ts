import { join } from 'node:path'
import { maskToken } from '../gate/settings/token-settings.js'
import type { Ports } from '../gate/ports.js'
import { systemClock } from '../contract/clock.js'
import type { Arguments } from './arguments.js'
import { nameRepository } from './git-head.js'
import type { CommandPorts } from './ports.js'
import { ProgressBar, ProgressLines } from './progress-bar.js'
import { plain, widthOf } from './screen.js'
import { createTerminalLog } from './terminal-log.js'

/** What a workflow's runner provides, and a terminal does not. */
const NO_RUNNER = {
  ...{ saveState: () => undefined, setOutput: () => undefined, annotate: () => undefined },
  ...{ writeSummary: () => Promise.resolve(), uploadArtifact: undefined }
} satisfies Partial<Ports>

/** What the runs belong to: the repository that is checked out, or the folder. */
export function occasionIn({ workspace }: CommandPorts): Ports['occasion'] {
  return { repository: nameRepository(workspace), ref: '', commit: '', url: undefined }
}

/** Whoever wrote the file has asked for its audience. */
export function openIdTokensOf({ idTokens }: CommandPorts): Ports['openIdTokens'] {
  return idTokens && (() => idTokens)
}

export function openGateTerminal(args: Arguments, ports: CommandPorts) {
  const isJson = args.has('json')
  const stream = isJson ? ports.screen.err : ports.screen.out
  const bar = stream.isTTY ? new ProgressBar(stream) : undefined
  const { log, mask, strike } = createTerminalLog(stream, bar)
  const clock = ports.clock ?? systemClock
  const progress = bar ?? new ProgressLines(clock, (line) => log.info(line))
  maskToken({ mask }, ports.token)
  ports.idTokens?.onToken((token) => maskToken({ mask }, token))
  return {
    isJson,
    /** The longest line of the result; undefined if any length will do. */
    width: widthOf(ports.screen.out),
    redact: strike,
    /** Prints the result on standard output, without secrets. */
    say: (text: string) => void ports.screen.out.write(strike(text)),
    /** Prints a line of progress: above the bar if there is one, on standard error with `--json`. */
    tell: (line: string) => log.info(line),
    end: () => progress.end(),
    portsIn: (scratchDir: string): Ports => ({
      ...NO_RUNNER,
      occasion: occasionIn(ports),
      clock,
      log,
      mask,
      cancelled: ports.cancelled,
      openIdTokens: openIdTokensOf(ports),
      scratchDir,
      onProgress: (latest) => progress.show(latest),
      startLocalService: ({ regions, ...request }) =>
        ports.startLocalService({
          ...request,
          // A rehearsal starts nothing anywhere.
          ...(regions && !args.has('rehearse') && { regions }),
          dataDir: join(scratchDir, 'service'),
          rehearse: args.has('rehearse'),
          log: (line) => log.info(line),
          progress: bar && ((line) => bar.note(line === undefined ? undefined : strike(plain(line))))
        })
    })
  }
}

export type GateTerminal = ReturnType<typeof openGateTerminal>
