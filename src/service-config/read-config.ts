import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConfigError } from './config-error.js'
import type { ServiceConfig } from './config.js'
import { parseConfig } from './parse-config.js'

/** Reads the file of `--config`; throws a ConfigError with everything that is wrong with it. */
export async function readServiceConfig(file: string): Promise<ServiceConfig> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw new ConfigError(file, [`the file cannot be read: ${(thrown as Error).message}`])
  })
  const { config, problems } = parseConfig(text, dirname(resolve(file)))
  if (config === undefined) throw new ConfigError(file, problems)
  return config
}
