import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const LOOP = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
const [folder, target, away] = process.argv.slice(1)
process.chdir(folder)
console.log('ready')
for (;;)
  try {
    renameSync('dir', away)
    symlinkSync(target, 'dir')
    unlinkSync('dir')
    renameSync(away, 'dir')
  } catch {
    // It is being removed.
    try { renameSync(away, 'dir') } catch {}
  }
`

/**
 * A process that puts a link to the target in place of the folder's `dir`, which has another name meanwhile, and back, all the time; the
 * function ends it.
 */
export async function swapLinks(
  { folder, target, away }: Readonly<Record<'folder' | 'target' | 'away', string>>,
  user: { readonly uid?: number; readonly gid?: number } = {}
): Promise<() => Promise<void>> {
  const child: ChildProcess = spawn(process.execPath, ['-e', LOOP, folder, target, away], {
    ...{ ...user, cwd: '/', env: {} },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  await once(child.stdout!, 'data')
  return async () => {
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }
}
