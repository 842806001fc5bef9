import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function matchesPieces(pieces,value){let first=pieces[0]??"";if(pieces.length<=1)return value===first;let last=pieces[pieces.length-1]??"",middleEnd=value.length-last.length;if(middleEnd<first.length||!value.startsWith(first)||!value.endsWith(last))return!1;let at=first.length;for(let piece of pieces.slice(1,-1)){let found=value.indexOf(piece,at);if(found<0||found+piece.length>middleEnd)return!1;at=found+piece.length}return!0}export{matchesPieces};
