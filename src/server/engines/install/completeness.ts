import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

const MARKER = 'complete'
/** Files whose absence or size tells a damaged installation; people may edit the others, such as JMeter's properties. */
const CODE = /\.(jar|js|mjs|cjs|node)$/

/** Marks an installation as complete, with a list of the files that it must have. */
export async function markComplete(home: string): Promise<void> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && CODE.test(entry.name))
  const lines = await Promise.all(
    files.map(async (entry) => {
      const file = join(entry.parentPath, entry.name)
      return `${(await stat(file)).size} ${relative(home, file).split(sep).join('/')}`
    })
  )
  await writeFile(
    join(home, MARKER),
    lines
      .sort()
      .map((line) => `${line}\n`)
      .join('')
  )
}

/** True if there is an installation with everything that it had when it was made: a cache may be restored in part. */
export async function isComplete(home: string): Promise<boolean> {
  const text = await readFile(join(home, MARKER), 'utf8').catch(() => undefined)
  if (text === undefined) return false
  const files = text.split('\n').filter((line) => line !== '')
  const intact = await Promise.all(files.map((line) => isIntact(home, line)))
  return intact.every(Boolean)
}

async function isIntact(home: string, line: string): Promise<boolean> {
  const space = line.indexOf(' ')
  const found = await stat(join(home, line.slice(space + 1))).catch(() => undefined)
  return found?.isFile() === true && found.size === Number(line.slice(0, space))
}
