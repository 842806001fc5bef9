import type { Gate } from '../gate.js'

/**
 * Whether the service has everything in place before it reports the end of a run: what is missing then never comes, and a CSV without
 * rows has none. So does a loadgate, embedded or elsewhere; any other service may still be writing.
 */
export function isCompleteAtEnd({ settings, client }: Pick<Gate, 'settings' | 'client'>): boolean {
  return settings.target.kind === 'local' || client.isLoadgate
}
