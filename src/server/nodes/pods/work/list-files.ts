import type { Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

export interface FileToCopy {
  readonly path: string
  readonly sizeBytes: number
  readonly isExecutable: boolean
}

export interface FilesToCopy {
  readonly files: readonly FileToCopy[]
  readonly folders: readonly string[]
}

/** Everything under these paths, links followed: what they lead to is what the tool reads here. */
export async function listFiles(paths: readonly string[]): Promise<FilesToCopy> {
  const files = new Map<string, FileToCopy>()
  const folders = new Set<string>()
  const visit = async (path: string, parents: readonly string[]): Promise<void> => {
    const found = await stat(path)
    if (found.isFile()) files.set(path, fileOf(path, found))
    if (!found.isDirectory()) return
    folders.add(path)
    const real = await realpath(path)
    // A link to a folder around it has no end.
    if (parents.includes(real)) return
    for (const name of await readdir(path)) await visit(join(path, name), [...parents, real])
  }
  for (const path of paths) await visit(resolve(path), [])
  return { files: [...files.values()], folders: [...folders] }
}

function fileOf(path: string, { size, mode }: Stats): FileToCopy {
  return { path, sizeBytes: size, isExecutable: (mode & 0o100) !== 0 }
}
