import { ByteScanner } from './byte-scanner.js'
import type { ScannerOptions, ScanResult } from '../counts/scan-result.js'

/** Scans a CSV while it is downloaded. A download that starts over needs a new one. */
export interface Scanner {
  /** Chunks may be split anywhere; nothing of them is kept. */
  push(chunk: Uint8Array): void
  /** The result so far. A growing file may continue from there, if the last chunk ended with a complete row. */
  end(): ScanResult
}

export function createScanner(options: ScannerOptions): Scanner {
  const bytes = new ByteScanner(options)
  return {
    push(chunk) {
      for (let at = 0; at < chunk.length && !bytes.isDone;)
        at += bytes.fill((buffer, from, to) => {
          const piece = chunk.subarray(at, at + to - from)
          buffer.set(piece, from)
          return piece.length
        })
    },
    end: () => bytes.end()
  }
}
