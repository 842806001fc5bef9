import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildServiceTree, SERVICE_DOCKERFILE, serviceContext } from '../tools/service-image.js'
import type { ClusterFolders } from './cluster-folders.js'

/** What the base image has of Debian, as far as the service and its Dockerfile use it. */
const BASE = ['bash', 'coreutils', 'findutils', 'grep', 'sed', 'tar', 'login', 'passwd', 'libstdc++6']
const MAKE_IMAGE = 'scripts/cluster/make-image.mjs'
const UNPACK_BASE = 'scripts/cluster/unpack-base'

/**
 * Makes the image of the service by the steps of its Dockerfile, without Docker, and hands it to the cluster under the name that a
 * registry would have it by. The cache keeps it until something changes that it is made of.
 */
export function importServiceImage(name: string, { data, cache, ctr }: ClusterFolders): void {
  const file = `service-${hashOfSources(name)}.tar`
  const mark = join(data, 'imported', file)
  if (existsSync(mark)) return
  const archive = join(cache, file)
  if (!existsSync(archive)) {
    for (const old of readdirSync(cache).filter((each) => /^service-[a-f\d]+\.tar$/.test(each)))
      rmSync(join(cache, old))
    makeArchive(name, archive, { data })
  }
  ctr('images', 'import', archive)
  writeFileSync(mark, '')
}

function hashOfSources(name: string): string {
  const fixed = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner']
  const files = [...serviceContext(), 'images/service/Dockerfile', MAKE_IMAGE, UNPACK_BASE]
  const script = `(tar -c "$@"; echo ${process.version} ${name} ${BASE.join()}) | sha256sum | cut -c1-12`
  return execFileSync('bash', ['-c', script, 'bash', ...fixed, ...files], { encoding: 'utf8' }).trim()
}

function makeArchive(name: string, archive: string, { data }: Pick<ClusterFolders, 'data'>): void {
  const { packages, run, env, entrypoint } = SERVICE_DOCKERFILE
  const work = mkdtempSync(join(tmpdir(), 'loadgate-image-'))
  const root = join(work, 'root')
  const steps: [string, ...string[]][] = [
    [UNPACK_BASE, root, ...BASE, ...packages],
    ['chroot', root, 'sh', '-c', run]
  ]
  try {
    for (const [command, ...args] of steps)
      execFileSync(command, args, { env: { ...process.env, K8S_DATA: data }, stdio: 'pipe' })
    buildServiceTree(join(work, 'context'), root)
    execFileSync(process.execPath, [MAKE_IMAGE, name, root, archive, JSON.stringify(entrypoint), ...env])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
