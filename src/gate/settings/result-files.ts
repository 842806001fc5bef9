import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { messageOf } from '../../contract/text.js'
import { findMatches, isNamedIfHidden, leadsOut, sortLines, type FindFiles } from './plan-files.js'

export interface FoundResults {
  readonly files: readonly { readonly path: string; readonly shown: string }[]
  readonly problems: readonly string[]
}

interface Places {
  readonly workspace: string
  readonly find: FindFiles
  /** The folders that files may be in; undefined if they may be anywhere. */
  readonly roots?: readonly string[]
}

/** Resolves lines of `results`: regular files, hidden ones only if named explicitly, and no links that lead out of the folders. */
export async function resolveResultFiles(lines: readonly string[], places: Places): Promise<FoundResults> {
  const { workspace } = places
  const { wanted, excluded } = sortLines(lines)
  const problems: string[] = []
  const found = new Map<string, { path: string; shown: string }>()
  for (const line of wanted) {
    const matches = (await findMatches(line, excluded, places)).filter((path) =>
      isNamedIfHidden(relative(workspace, path), line)
    )
    if (matches.length === 0)
      problems.push(
        `"${line}" matches no file; check the path, which starts at ${workspace}, and that the step before has written it`
      )
    for (const path of matches) {
      const checked = await check(path, line, places)
      if ('problem' in checked) problems.push(checked.problem)
      // A file that two patterns match, or a link to it, counts once.
      else if (!found.has(checked.real)) found.set(checked.real, { path, shown: show(path, workspace) })
    }
  }
  return { files: [...found.values()], problems }
}

async function check(
  path: string,
  line: string,
  { workspace, roots }: Places
): Promise<{ readonly real: string } | { readonly problem: string }> {
  const shown = show(path, workspace)
  try {
    const real = await realpath(path)
    const within = await Promise.all((roots ?? []).map((root) => realpath(root).catch(() => root)))
    if (roots !== undefined && within.every((root) => leadsOut(root, real)))
      return { problem: `"${shown}" is outside the workspace and the runner's temporary folder` }
    const root = within.find((each) => !leadsOut(each, real))
    if (root !== undefined && !isNamedIfHidden(relative(root, real), line))
      return { problem: `"${shown}" points to a hidden file; name it explicitly` }
    const facts = await stat(real)
    if (facts.isDirectory())
      return { problem: `"${shown}" is a folder; give its files, such as ${shown.replace(/\/+$/, '')}/*.csv` }
    return facts.isFile() ? { real } : { problem: `"${shown}" is not a regular file` }
  } catch (thrown) {
    return { problem: `"${shown}" cannot be read: ${messageOf(thrown)}` }
  }
}

function show(path: string, workspace: string): string {
  const way = relative(workspace, path)
  return way === '' || leadsOut(workspace, path) || isAbsolute(way) ? path : way
}
