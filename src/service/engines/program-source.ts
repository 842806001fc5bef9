import { messageOf } from '../../contract/text.js'
import {
  type InstallPorts,
  runWithin,
  VERSION_LIMIT_MS,
  findOnPath,
  isExecutable
} from './install/run-to-end.js'
import type { ImageShell } from '../nodes/load-node.js'
import { findPrograms, readVariables, runInImage } from './image/ask-image.js'

/** Where programs are looked for and tried: this machine, or an image. */
export interface ProgramSource {
  /** The name of the image; undefined for this machine. */
  readonly image?: string
  variables(names: readonly string[]): Promise<Readonly<Record<string, string | undefined>>>
  /** The programs among these that can be started, in this order: paths, and names as the PATH has them first. */
  find(wanted: readonly string[]): Promise<string[]>
  /** What `--version` prints; `how` says how it ended. */
  askVersion(file: string): Promise<{ code: number | null; lines: readonly string[]; how: string }>
}

export function programsHere(ports: InstallPorts, limitMs = VERSION_LIMIT_MS): ProgramSource {
  return {
    variables: (names) => Promise.resolve(Object.fromEntries(names.map((name) => [name, ports.env[name]]))),
    find: async (wanted) => {
      const found = await Promise.all(
        wanted.map(async (each) => {
          if (!each.includes('/')) return findOnPath(each, ports.env)
          return (await isExecutable(each)) ? each : undefined
        })
      )
      return [...new Set(found.filter((file) => file !== undefined))]
    },
    askVersion: async (file) => {
      try {
        const { isLate, ...ended } = await runWithin(limitMs, { file, args: ['--version'] }, ports)
        return { ...ended, how: isLate ? `no end within ${limitMs / 1000} s` : `exit code ${ended.code}` }
      } catch (thrown) {
        ports.signal.throwIfAborted()
        return { code: null, lines: [messageOf(thrown)], how: 'not started' }
      }
    }
  }
}

export function programsIn(image: ImageShell): ProgramSource {
  return {
    image: image.name,
    variables: (names) => readVariables(image, names),
    find: (wanted) => findPrograms(image, wanted),
    askVersion: (file) => runInImage(image, [file, '--version'])
  }
}
