import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Reads a folder, including subfolders, into a map from relative path (with `/`) to bytes. */
export async function readFolder(folder) {
  const files = new Map()
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const entry of entries.filter((entry) => entry.isFile())) {
    const file = path.join(entry.parentPath, entry.name)
    files.set(path.relative(folder, file).split(path.sep).join('/'), await readFile(file))
  }
  return files
}

/** Lists, sorted, how a folder's files differ from the expected ones. */
export function compareFiles(actual, wanted) {
  const missing = [...wanted.keys()].filter((name) => !actual.has(name))
  const extra = [...actual.keys()].filter((name) => !wanted.has(name))
  const different = [...wanted.keys()].filter(
    (name) => actual.has(name) && !actual.get(name).equals(wanted.get(name))
  )
  return { missing: missing.sort(), extra: extra.sort(), different: different.sort() }
}

/** Makes a folder contain exactly these files; unchanged ones are not touched, so that nobody sees a half-finished build. */
export async function syncFolder(folder, wanted) {
  const { missing, extra, different } = compareFiles(await readFolder(folder), wanted)
  for (const name of [...missing, ...different]) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, wanted.get(name))
  }
  for (const name of extra) await rm(path.join(folder, name))
}
