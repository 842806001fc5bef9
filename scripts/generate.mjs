// Writes files that are made from others, or with --check fails if they differ: npm run generate -- <what> [--check]
const SCRIPTS = {
  docs: 'readme-tables',
  schema: 'schemas',
  kernel: 'kernel',
  page: 'page-assets',
  pictures: 'pictures',
  jars: 'jars',
  'jar-lists': 'jar-lists'
}
const [what = ''] = process.argv.splice(2, 1)
if (Object.hasOwn(SCRIPTS, what)) await import(`./${SCRIPTS[what]}.mjs`)
else {
  console.error(`npm run generate -- <what>, one of ${Object.keys(SCRIPTS).join(', ')}`)
  process.exitCode = 2
}
