import { execFile, execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import { LONGEST_NAME } from '../contract/vocabulary.js'

/** The commit that is checked out in a folder; empty where git does not know. */
export function readGitHead(folder: string): Promise<string> {
  return new Promise((done) => {
    execFile('git', ['rev-parse', 'HEAD'], { cwd: folder }, (_, out) => done(out.trim()))
  })
}

/** `owner/repo` of the remote, without whatever else its address has; the folder's name if there is none. */
export function nameRepository(folder: string): string {
  const remote = askGit(['remote', 'get-url', 'origin'], folder)
  // https://host/owner/repo.git and ssh://…; git@host:owner/repo.git; not a path of this machine.
  const [, path] = /^(?:[a-z+]+:\/\/[^/]+\/|[^/\\:\s]{2,}:(?!\/\/))(.+?)(?:\.git)?\/?$/.exec(remote) ?? []
  return (path ?? basename(folder)).slice(0, LONGEST_NAME)
}

function askGit(args: readonly string[], cwd: string): string {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}
