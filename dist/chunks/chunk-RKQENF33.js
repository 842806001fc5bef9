import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{Context,GitHub,getOctokitOptions}from"./chunk-KJTK5YRY.js";var context=new Context;function getOctokit(token,options,...additionalPlugins){let GitHubWithPlugins=GitHub.plugin(...additionalPlugins);return new GitHubWithPlugins(getOctokitOptions(token,options))}export{context,getOctokit};
