import { chmod } from 'node:fs/promises'
import path from 'node:path'
import { bundle, PROGRAM, ROOT } from './bundle.mjs'
import { syncFolder } from './folder.mjs'

const files = await bundle()
await syncFolder(path.join(ROOT, 'dist'), files)
await chmod(PROGRAM, 0o755)
for (const [name, bytes] of files) console.log(`${String(bytes.length).padStart(9)} dist/${name}`)
