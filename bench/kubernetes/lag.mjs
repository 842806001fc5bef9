// How late rows are: from the time in a row to the moment at which it is in the local file.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'

const EVERY_MS = 20
const LINE_BREAK = 10

/** Watches some of the files, all rows of each. */
export class LagMeter {
  /** [when, lag] of each row. */
  #found = []
  #files
  #timer
  #bytes = Buffer.alloc(4 << 20)

  constructor(folder, indexes) {
    this.#files = indexes.map((index) => ({ path: join(folder, `${index}.csv`), fd: undefined, at: 0 }))
    this.#timer = setInterval(() => this.#files.forEach((file) => this.#look(file)), EVERY_MS)
  }

  #look(file) {
    try {
      file.fd ??= openSync(file.path)
    } catch {
      return
    }
    const { size, mtimeMs } = fstatSync(file.fd)
    if (size === file.at) return
    const read = readSync(file.fd, this.#bytes, 0, Math.min(size - file.at, this.#bytes.length), file.at)
    const end = this.#bytes.lastIndexOf(LINE_BREAK, read - 1) + 1
    for (let at = 0; at < end; at = this.#bytes.indexOf(LINE_BREAK, at) + 1) {
      const timeMs = Number(this.#bytes.latin1Slice(at, at + 13))
      if (timeMs > 0) this.#found.push([timeMs, Math.max(0, mtimeMs - timeMs)])
    }
    file.at += end
  }

  /** Percentiles over the rows, and the median in the first and in the last quarter of the time: it grows if it cannot keep up. */
  stop() {
    clearInterval(this.#timer)
    this.#files.forEach((file) => {
      this.#look(file)
      if (file.fd !== undefined) closeSync(file.fd)
    })
    const lags = this.#found.map(([, lagMs]) => lagMs)
    const times = this.#found.map(([timeMs]) => timeMs).sort((a, b) => a - b)
    const [first, last] = [times[times.length >> 2], times[(times.length * 3) >> 2]]
    return {
      rows: lags.length,
      p50: percentile(lags, 0.5),
      p99: percentile(lags, 0.99),
      early: percentile(
        this.#found.filter(([timeMs]) => timeMs < first).map(([, lagMs]) => lagMs),
        0.5
      ),
      late: percentile(
        this.#found.filter(([timeMs]) => timeMs >= last).map(([, lagMs]) => lagMs),
        0.5
      )
    }
  }
}

function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted.length === 0 ? NaN : sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
