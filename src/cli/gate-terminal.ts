import { join } from 'node:path'
import { maskToken } from '../gate/settings/service-values.js'
import type { Ports, Progress } from '../gate/ports.js'
import { systemClock, type Clock } from '../contract/clock.js'
import { describeStatus } from '../gate/run/run-status.js'
import { formatDuration } from '../contract/text.js'
import type { Arguments } from './arguments.js'
import type { CommandPorts } from './ports.js'
import { ProgressBar } from './progress-bar.js'
import { plain, widthOf } from './screen.js'
import { createTerminalLog } from './terminal-log.js'

/** What a workflow's runner provides, and a terminal does not. */
const NO_RUNNER = {
  occasion: { repository: '', ref: '', commit: '', url: undefined },
  saveState: () => undefined,
  setOutput: () => undefined,
  writeSummary: () => Promise.resolve(),
  annotate: () => undefined,
  uploadArtifact: undefined
} satisfies Partial<Ports>

/** A terminal on which gates run. */
export interface GateTerminal {
  readonly isJson: boolean
  /** How wide the lines of the result may be; undefined if any. */
  readonly width: number | undefined
  /** Prints the result on standard output, without secrets. */
  say(text: string): void
  /** Takes secrets out of a text that goes elsewhere. */
  readonly redact: (text: string) => string
  /** Prints a line of progress: above the bar if there is one, on standard error with `--json`. */
  tell(line: string): void
  /** What a gate works with that keeps its files in the folder. */
  portsIn(scratchDir: string): Ports
  /** Ends the display of progress. */
  end(): void
}

export function openGateTerminal(args: Arguments, ports: CommandPorts): GateTerminal {
  const isJson = args.has('json')
  const stream = isJson ? ports.screen.err : ports.screen.out
  const bar = stream.isTTY ? new ProgressBar(stream) : undefined
  const { log, mask, strike } = createTerminalLog(stream, bar)
  const clock = ports.clock ?? systemClock
  const progress = bar ?? new ProgressLines(clock, (line) => log.info(line))
  maskToken({ mask }, ports.token)
  return {
    isJson,
    width: widthOf(ports.screen.out),
    redact: strike,
    say: (text) => void ports.screen.out.write(strike(text)),
    tell: (line) => log.info(line),
    end: () => progress.end(),
    portsIn: (scratchDir) => ({
      ...NO_RUNNER,
      clock,
      log,
      mask,
      cancelled: ports.cancelled,
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

const LINE_EVERY_MS = 30_000

/** Progress where there is no terminal: a line now and then, so that a log shows that the gate is alive, and CI systems do not end it. */
export class ProgressLines {
  readonly #clock: Clock
  readonly #print: (line: string) => void
  readonly #ended = new AbortController()
  #latest: (Progress & { readonly atMs: number }) | undefined

  constructor(clock: Clock, print: (line: string) => void) {
    this.#clock = clock
    this.#print = print
  }

  show(progress: Progress): void {
    const isFirst = this.#latest === undefined
    this.#latest = { ...progress, atMs: this.#clock.now() }
    if (isFirst) void this.#printOn()
  }

  end(): void {
    this.#ended.abort()
  }

  /** By the clock rather than by polls of the run: there are none while files are sent or results are downloaded. */
  async #printOn(): Promise<void> {
    const { signal } = this.#ended
    try {
      for (;;) {
        await this.#clock.sleep(LINE_EVERY_MS, signal)
        if (this.#latest !== undefined) this.#print(describe(this.#latest, this.#clock.now()))
      }
    } catch {
      // The end.
    }
  }
}

function describe(
  { stage, elapsedMs, durationMs, atMs, ...progress }: Progress & { readonly atMs: number },
  nowMs: number
): string {
  const soFar = formatDuration(elapsedMs + nowMs - atMs)
  const time = durationMs === undefined ? soFar : `${soFar} of ${formatDuration(durationMs)}`
  return `${stage === undefined ? '' : `${stage} · `}${describeStatus(progress)}: ${time}`
}
