import { rmSync } from 'node:fs'

/** Also while processes that were killed just now still write into it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
