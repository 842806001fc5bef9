import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{rm,rmdir}from"node:fs/promises";import{basename,dirname,join}from"node:path";var NAME="service",OF_A_STEP="loadgate-";function serviceFolder(scratchDir){return join(scratchDir,NAME)}async function removeServiceFolder(folder){basename(folder)!==NAME||!basename(dirname(folder)).startsWith(OF_A_STEP)||(await rm(folder,{recursive:!0,force:!0}),await rmdir(dirname(folder)).catch(()=>{}))}export{serviceFolder,removeServiceFolder};
