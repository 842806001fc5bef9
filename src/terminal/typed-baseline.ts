import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { resolveBaselinePath } from '../gate/settings/baseline-path.js'
import type { BaselinePath } from '../gate/settings/baseline-path.js'
import { isBranchWord } from '../gate/settings/baseline-settings.js'

/** The baseline document that was typed. It may be missing, but not its folder: that is a typo. */
export async function resolveTypedBaseline(text: string, workspace: string): Promise<BaselinePath> {
  const found = await resolveBaselinePath(text, { workspace, isConfined: false })
  if ('problem' in found || found.exists) return found
  if (isBranchWord(text))
    return {
      problem: `"${text}" is not a file; give the path of a baseline document, which \`loadgate baseline record\` creates from the runs of that branch`
    }
  const folder = dirname(found.path)
  const isFolder = await stat(folder).then(
    (facts) => facts.isDirectory(),
    () => false
  )
  return isFolder ? found : { problem: `"${text}" is in a folder that does not exist: ${folder}` }
}
