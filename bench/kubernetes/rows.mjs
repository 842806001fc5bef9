// Rows as JMeter writes them, about 110 bytes each, the same length every time: only their times change.
export const HEADER = Buffer.from(
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n'
)
const TIME_DIGITS = 13
const LABELS = ['GET /products', 'GET /product ', 'POST /basket ', 'POST /order  ']

export function rowOf(timeMs, number = 0) {
  const elapsed = 200 + (number % 800)
  const thread = 10 + (number % 90)
  const label = LABELS[number % LABELS.length]
  return `${timeMs},${elapsed},${label},200,OK,Thread Group 1-${thread},text,true,,15321,342,50,50,http://shop.test/,${elapsed - 5},0,12\n`
}

export const ROW_BYTES = rowOf(Date.now()).length

/** Rows whose times can be set: setting them is all that a message costs. */
export class RowTemplate {
  #bytes
  #rows

  constructor(rows) {
    this.#rows = rows
    this.#bytes = Buffer.from(Array.from({ length: rows }, (_, number) => rowOf(Date.now(), number)).join(''))
  }

  /** Rows of the time before a moment, evenly. */
  fill(endMs, spanMs) {
    const bytes = Buffer.from(this.#bytes)
    for (let row = 0; row < this.#rows; row++) {
      const timeMs = endMs - Math.floor((spanMs * (this.#rows - 1 - row)) / this.#rows)
      bytes.latin1Write(String(timeMs), row * ROW_BYTES, TIME_DIGITS)
    }
    return bytes
  }
}
