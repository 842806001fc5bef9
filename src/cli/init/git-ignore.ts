import { appendFile, lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../contract/text.js'
import { OUTPUT_FOLDER } from '../output-folder.js'

const PATH = '.gitignore'
const LINE = `${OUTPUT_FOLDER}/`
const KNOWN = new RegExp(`^/?(?:\\*\\*/)?${OUTPUT_FOLDER}(?:/\\**)?\\s*$`, 'm')

const NOTHING = { written: [] as string[], said: [] as string[], notes: [] as string[] }

/** Keeps the results of `loadgate run` out of commits. Says what it did, or notes what is left to do. */
export async function ignoreResults(folder: string): Promise<typeof NOTHING> {
  const path = join(folder, PATH)
  try {
    const facts = await lstat(path).catch(() => undefined)
    // Git does not follow a link either.
    if (facts !== undefined && !facts.isFile()) throw new Error('it is not a plain file')
    const text = facts === undefined ? '' : await readFile(path, 'utf8')
    if (KNOWN.test(text)) return NOTHING
    const end = text.includes('\r\n') ? '\r\n' : '\n'
    const gap = text === '' || text.endsWith('\n') ? '' : end
    await appendFile(path, `${gap}${LINE}${end}`)
    const verb = facts === undefined ? `Wrote ${PATH}: it ignores ${LINE}` : `Added ${LINE} to ${PATH}`
    return { ...NOTHING, written: [PATH], said: [`${verb}, the results of \`loadgate run\`.`] }
  } catch (thrown) {
    const note = `${PATH} could not be changed (${messageOf(thrown)}): add ${LINE} to it, where \`loadgate run\` puts its results.`
    return { ...NOTHING, notes: [note] }
  }
}
