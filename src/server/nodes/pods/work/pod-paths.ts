import { posix, resolve } from 'node:path'

/** The folder of a pod that is ours. */
export const POD_HOME = '/loadgate'

/** Where things are in a pod. */
export interface PodPaths {
  readonly home: string
  /** The folder of one piece of work. */
  turnOf(id: string): string
  /** Where a file of this machine is. */
  fileOf(file: string): string
}

export function podPaths(home: string): PodPaths {
  return {
    home,
    turnOf: (id) => posix.join(home, 'turns', id),
    fileOf: (file) => `${posix.join(home, 'files')}${resolve(file)}`
  }
}
