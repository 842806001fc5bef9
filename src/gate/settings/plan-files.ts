import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { joinWords, messageOf } from '../../contract/text.js'

const SHOWN = 5

/** Returns the absolute paths that match a pattern; `excluded` are patterns too. */
export type FindFiles = (pattern: string, excluded: readonly string[]) => Promise<string[]>

export interface PlanFiles {
  /** The plan first, then its data files in the order of the lines. */
  readonly paths: string[]
  readonly problems: string[]
}

/** Resolves the lines of `files`: only regular files inside the workspace, hidden ones only if named explicitly. */
export async function resolvePlanFiles(
  lines: readonly string[],
  options: { workspace: string; find: FindFiles }
): Promise<PlanFiles> {
  const problems: string[] = []
  const root = await realpath(options.workspace)
  const { wanted, excluded } = sortLines(lines)
  const paths: string[] = []
  for (const [index, line] of wanted.entries()) {
    const matches = await findMatches(line, excluded, options)
    const visible = matches.filter((path) => isNamedIfHidden(relative(options.workspace, path), line))
    if (visible.length === 0)
      problems.push(
        matches.length > 0
          ? `"${line}" matches only hidden files; name a hidden file explicitly to send it`
          : `"${line}" matches no file in the workspace; check the path, which starts at ${options.workspace}`
      )
    if (index === 0 && visible.length > 1)
      problems.push(
        `the first line, "${line}", must match one file, the plan; it matches ${visible.length}: ${joinWords(
          visible.map((path) => relative(options.workspace, path)),
          SHOWN
        )}`
      )
    for (const path of visible) {
      const problem = await problemWith(path, line, root)
      if (problem !== undefined) problems.push(problem)
      else if (!paths.includes(path)) paths.push(path)
    }
  }
  return { paths, problems: [...problems, ...sameNames(paths, options.workspace)] }
}

/** What is wanted, and the patterns of the lines that exclude files. */
export function sortLines(lines: readonly string[]): { wanted: string[]; excluded: string[] } {
  const excluded = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1).trim())
  return { wanted: lines.filter((line) => !line.startsWith('!')), excluded }
}

/** A line that is the exact path of a file is used literally, even if it contains glob characters. */
export async function findMatches(
  line: string,
  excluded: readonly string[],
  { workspace, find }: { workspace: string; find: FindFiles }
): Promise<string[]> {
  const literal = isAbsolute(line) ? resolve(line) : resolve(workspace, line)
  const found = await lstat(literal).catch(() => undefined)
  if (found !== undefined && excluded.length === 0) return [literal]
  return (await find(line, excluded)).sort()
}

/** A hidden segment must be matched by a segment of the line that also starts with a dot: its name, or a pattern such as `.e*`. */
export function isNamedIfHidden(path: string, line: string): boolean {
  const names = line.split(/[\\/]/).filter((name) => /^\.[^.]/.test(name))
  return path
    .split(sep)
    .filter((segment) => segment.startsWith('.') && segment !== '..')
    .every((segment) => names.some((name) => name === segment || isPatternFor(segment, name)))
}

/** The full path is known to match, so comparing the part of the pattern before its first wildcard is enough. */
function isPatternFor(segment: string, name: string): boolean {
  const [start = ''] = name.split(/[*?[]/)
  return start !== name && segment.startsWith(start)
}

async function problemWith(path: string, line: string, root: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    if (leadsOut(root, real)) return `"${line}" is outside the workspace`
    const way = relative(root, real)
    // A symbolic link does not make a hidden file visible: `.git/config` may contain the job's token.
    if (!isNamedIfHidden(way, line))
      return `"${line}" points to the hidden file ${way}; name it explicitly to send it`
    if (!(await stat(real)).isFile()) return `"${line}" is not a regular file`
    return undefined
  } catch (thrown) {
    return `"${line}" cannot be read: ${messageOf(thrown)}`
  }
}

/** The service drops folders from names, so two files with the same name would collide there. */
function sameNames(paths: readonly string[], workspace: string): string[] {
  const byName = new Map<string, string[]>()
  for (const path of paths)
    byName.set(basename(path), [...(byName.get(basename(path)) ?? []), relative(workspace, path)])
  return [...byName]
    .filter(([, same]) => same.length > 1)
    .map(
      ([name, same]) =>
        `two files have the same base name ${name}: ${joinWords(same, SHOWN)}; the service ignores folders`
    )
}

/** Where a baseline document is or will be; the first run has none yet. Or why the path cannot be used. */
export type BaselinePath = { readonly path: string; readonly exists: boolean } | { readonly problem: string }

/** Resolves the path of a baseline document. In a workflow it must be inside the workspace, because it may be written to. */
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
    return { problem: `"${text}" cannot be read: ${messageOf(thrown)}` }
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

export function leadsOut(from: string, to: string): boolean {
  const way = relative(from, to)
  return way === '..' || /^\.\.[\\/]/.test(way) || isAbsolute(way)
}
