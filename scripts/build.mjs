import path from 'node:path'
import { bundle, ROOT } from './bundle.mjs'
import { syncFolder } from './folder.mjs'

const files = await bundle()
await syncFolder(path.join(ROOT, 'dist'), files)
for (const [name, bytes] of files) console.log(`${String(bytes.length).padStart(9)} dist/${name}`)
