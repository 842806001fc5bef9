/** The client of GitHub's API and what it sends with, as one module to load lazily. */
export { getOctokit } from '@actions/github'
export { defaults } from '@actions/github/lib/utils'
