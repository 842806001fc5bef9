import type { Arguments, Flag } from './arguments.js'
import type { GateCommandPorts } from './gate-command.js'

export const CHECK_FLAGS: readonly Flag[] = [{ name: 'json', about: 'Print the findings as JSON.' }]

/** `loadgate check`: what would go wrong with a run of these settings, found in seconds. */
export async function runCheckCommand(_args: Arguments, _ports: GateCommandPorts): Promise<number> {
  return Promise.reject(new Error('check is being written'))
}
