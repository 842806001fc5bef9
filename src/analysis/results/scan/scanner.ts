import { ByteScanner } from './byte-scanner.js'
import type { ScannerOptions } from '../counts/scan-result.js'

/** Scans a CSV while it is downloaded. A download that starts over needs a new one. */
export type Scanner = Pick<ByteScanner, 'push' | 'end'>

export function createScanner(options: ScannerOptions): Scanner {
  return new ByteScanner(options)
}
