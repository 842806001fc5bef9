import type { Arguments, Flag } from './arguments.js'
import type { Screen } from './screen.js'

export interface InitPorts {
  readonly screen: Screen
  readonly workspace: string
}

export const INIT_FLAGS: readonly Flag[] = [{ name: 'force', about: 'Overwrite files that exist.' }]

/** `loadgate init`: a plan, a config file and a workflow for this repository. */
export async function runInitCommand(_args: Arguments, _ports: InitPorts): Promise<number> {
  return Promise.reject(new Error('init is being written'))
}
