import { realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { messageOf } from '../../contract/text.js'

/** Where a baseline document is or will be; the first run has none yet. Or why the path cannot be used. */
export type BaselinePath = { readonly path: string; readonly exists: boolean } | { readonly problem: string }

/** Resolves the path of a baseline document. In a workflow it must be inside the workspace, for it may be written to. */
export async function resolveBaselinePath(
  text: string,
  { workspace, isConfined }: { readonly workspace: string; readonly isConfined: boolean }
): Promise<BaselinePath> {
  const path = resolve(workspace, text)
  if (isConfined && !(await isInside(path, workspace)))
    return {
      problem: `"${text}" is outside the workspace; give a path inside it, such as .loadgate/baseline.json.gz`
    }
  try {
    const found = await stat(path)
    if (found.isDirectory())
      return {
        problem: `"${text}" is a folder; give the path of a file, such as ${text.replace(/\/+$/, '')}/baseline.json.gz`
      }
    return found.isFile() ? { path, exists: true } : { problem: `"${text}" is not a regular file` }
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === 'ENOENT') return { path, exists: false }
    return {
      problem: `"${text}" cannot be read: ${messageOf(thrown)}`
    }
  }
}

/** By the path as written and by where its links lead. */
async function isInside(path: string, workspace: string): Promise<boolean> {
  if (leadsOut(workspace, path)) return false
  const root = await realpath(workspace)
  for (let part = path; part !== dirname(part); part = dirname(part)) {
    const real = await realpath(part).catch(() => undefined)
    if (real !== undefined) return !leadsOut(root, real)
  }
  return true
}

function leadsOut(from: string, to: string): boolean {
  const way = relative(from, to)
  return way === '..' || /^\.\.[\\/]/.test(way) || isAbsolute(way)
}
