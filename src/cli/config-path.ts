import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Arguments } from './arguments.js'
import { CONFIG_PATH } from './init/config-text.js'

/** Relative to the current directory, as the paths in the file are. */
const USUAL_PATHS = [CONFIG_PATH, CONFIG_PATH.replace(/yml$/, 'yaml')]
/** Says that no file is read. */
const NONE = 'none'
/** What these judge is not the plan that the file is about. */
const OTHER_ORIGINS = ['results', 'run-id', 'repeat']

export const ABOUT_CONFIG = `YAML file whose keys are these flags without their dashes. A flag wins over the file. Unknown keys are an error. \`${NONE}\` reads no file. Default: ${CONFIG_PATH} in the current directory, if it is there and none of ${OTHER_ORIGINS.map((name) => `--${name}`).join(', ')} is given.`

/** The path of the config file; empty if there is none. Says so if nobody asked for it. */
export async function findConfig(
  args: Arguments,
  { workspace, tell }: { readonly workspace: string; readonly tell: (line: string) => void }
): Promise<string> {
  const given = args.text('config')
  if (given !== '') return given === NONE ? '' : given
  if (OTHER_ORIGINS.some((name) => args.has(name))) return ''
  for (const path of USUAL_PATHS) {
    const facts = await stat(resolve(workspace, path)).catch(() => undefined)
    if (!facts?.isFile()) continue
    tell(`Settings from ${path}. Flags win over it; --config ${NONE} leaves it out.`)
    return path
  }
  return ''
}
