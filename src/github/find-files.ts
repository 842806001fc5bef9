import { create } from '@actions/glob'
import { isAbsolute, join } from 'node:path'
import type { FindFiles } from '../gate/settings/plan-files.js'

/** Globbing as in workflows. Links are followed: the caller checks where they lead. */
export function createFindFiles(workspace: string): FindFiles {
  return async (pattern, excluded) => {
    const rooted = (line: string): string => (isAbsolute(line) ? line : join(escapeGlob(workspace), line))
    const patterns = [rooted(pattern), ...excluded.map((line) => `!${rooted(line)}`)]
    const globber = await create(patterns.join('\n'), { matchDirectories: false, implicitDescendants: false })
    return globber.glob()
  }
}

function escapeGlob(path: string): string {
  return path.replace(/[[?*]/g, '[$&]')
}
