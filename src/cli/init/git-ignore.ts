import { appendFile, lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../contract/text.js'
import { OUTPUT_FOLDER } from '../output-folder.js'

const PATH = '.gitignore'
const LINE = `${OUTPUT_FOLDER}/`
const KNOWN = new RegExp(`^/?(?:\\*\\*/)?${OUTPUT_FOLDER}(?:/\\**)?\\s*$`, 'm')

/** Keeps the results of `loadgate run` out of commits. Says what it did, or what is left to do; undefined if nothing was. */
export async function ignoreResults(
  folder: string
): Promise<{ written: string; said: string } | { problem: string } | undefined> {
  const path = join(folder, PATH)
  try {
    const facts = await lstat(path).catch(() => undefined)
    // Git does not follow a link either.
    if (facts !== undefined && !facts.isFile()) throw new Error('it is not a plain file')
    const text = facts === undefined ? '' : await readFile(path, 'utf8')
    if (KNOWN.test(text)) return undefined
    const end = text.includes('\r\n') ? '\r\n' : '\n'
    const gap = text === '' || text.endsWith('\n') ? '' : end
    await appendFile(path, `${gap}${LINE}${end}`)
    const verb = facts === undefined ? `Wrote ${PATH}: it ignores ${LINE}` : `Added ${LINE} to ${PATH}`
    return { written: PATH, said: `${verb}, the results of \`loadgate run\`.` }
  } catch (thrown) {
    const problem = `${PATH} could not be changed (${messageOf(thrown)}): add ${LINE} to it, where \`loadgate run\` puts its results.`
    return { problem }
  }
}
