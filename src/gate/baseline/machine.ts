import { arch, availableParallelism, cpus, platform } from 'node:os'

/** Where the load is generated, if that is here. */
export interface Machine {
  readonly system: string
  readonly cpu: string
  readonly cores: number
}

export function readMachine(): Machine {
  return {
    system: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism()
  }
}
