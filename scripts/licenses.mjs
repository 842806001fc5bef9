import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Name, license and license text of every bundled package, sorted by name. ncc's own option writes one file per chunk under one
 * name: the packages of an entry's first file would be missing.
 */
export async function describeLicenses(root, modules) {
  const folders = new Set(modules.map(packageFolderOf).filter(Boolean))
  const packages = await Promise.all([...folders].map((folder) => readPackage(path.join(root, folder))))
  const texts = packages.map(({ name, version, license, text }) => ({
    key: `${name}@${version}`,
    text: [`${name} ${version}`, license, text].filter(Boolean).join('\n')
  }))
  // List a package once even if it is in several folders.
  const unique = new Map(
    texts.sort((one, other) => (one.key < other.key ? -1 : 1)).map((one) => [one.key, one.text])
  )
  return `${[...unique.values()].join('\n\n')}\n`
}

/** The innermost package that a file belongs to: `node_modules/a/node_modules/@b/c` of `node_modules/a/node_modules/@b/c/lib/d.js`. */
function packageFolderOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
}

async function readPackage(folder) {
  const {
    name,
    version,
    // As old packages state it.
    licenses = [],
    license = licenses.map(({ type }) => type).join(' or ') || 'no license stated'
  } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'))
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))
  return { name, version, license, text: texts.map((text) => text.trim()).join('\n\n') }
}
