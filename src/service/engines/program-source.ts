import { messageOf } from '../../contract/text.js'
import type { ImageShell } from '../nodes/load-node.js'
import { findPrograms, readVariables, runInImage } from './image/image-program.js'
import { findOnPath, type InstallPorts, isExecutable, runToEnd } from './install/run-to-end.js'

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

/** A program that prints its version does so within a second or two; another one may wait forever. */
const LIMIT_HERE_MS = 20_000

export function programsHere(ports: InstallPorts, limitMs = LIMIT_HERE_MS): ProgramSource {
  return {
    variables: (names) => Promise.resolve(Object.fromEntries(names.map((name) => [name, ports.env[name]]))),
    find: async (wanted) => {
      const look = async (each: string): Promise<string | undefined> => {
        if (!each.includes('/')) return findOnPath(each, ports.env)
        return (await isExecutable(each)) ? each : undefined
      }
      const found = await Promise.all(wanted.map(look))
      return [...new Set(found.filter((file) => file !== undefined))]
    },
    askVersion: async (file) => {
      const limit = AbortSignal.timeout(limitMs)
      const signal = AbortSignal.any([ports.signal, limit])
      try {
        const ended = await runToEnd({ file, args: ['--version'] }, { ...ports, signal })
        ports.signal.throwIfAborted()
        return {
          ...ended,
          how: limit.aborted ? `no end within ${limitMs / 1000} s` : `exit code ${ended.code}`
        }
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
