import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import"./chunk-K5Y2IR4E.js";import{createServer}from"node:http";import{once}from"node:events";var PRODUCTS=[{id:"teapot",name:"Teapot",price:"24.00",words:"tea kitchen gift"},{id:"tea-towel",name:"Tea towel",price:"6.50",words:"kitchen linen"},{id:"lamp",name:"Lamp",price:"39.00",words:"light desk home"},{id:"candle",name:"Candle",price:"4.00",words:"light home gift"},{id:"chessboard",name:"Chessboard",price:"55.00",words:"board game wood gift"},{id:"dice",name:"Set of dice",price:"3.50",words:"board game"},{id:"notebook",name:"Notebook",price:"7.00",words:"paper desk"},{id:"pencils",name:"Pencils",price:"5.00",words:"paper desk wood"},{id:"oak-desk",name:"Oak desk",price:"480.00",words:"furniture wood"},{id:"armchair",name:"Armchair",price:"210.00",words:"furniture home"},{id:"organ-pipe",name:"Organ pipe",price:"130.00",words:"music wood"},{id:"violin",name:"Violin",price:"350.00",words:"music wood gift"}],STYLE=`
:root{color-scheme:light dark;--ink:#1d2733;--soft:#5b6b7c;--paper:#fbfaf7;--card:#fff;--line:#e3dfd6;--accent:#0b6e5f}
@media(prefers-color-scheme:dark){:root{--ink:#e9eef3;--soft:#9fb0c0;--paper:#14191f;--card:#1d242c;--line:#303a45;--accent:#4cc3ae}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:56rem;padding:0 1.25rem 3rem;background:var(--paper);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
header{display:flex;flex-wrap:wrap;gap:1rem;align-items:center;justify-content:space-between;padding:1.25rem 0;border-bottom:1px solid var(--line)}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
.brand{font-weight:700;font-size:1.15rem;color:var(--ink)}
h1{font-size:1.7rem;line-height:1.2;margin:1.75rem 0 1rem}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
input,button{font:inherit;padding:.45rem .8rem;border-radius:.45rem;border:1px solid var(--line);background:var(--card);color:inherit}
button{background:var(--accent);border-color:var(--accent);color:var(--paper);cursor:pointer}
ul{list-style:none;margin:0;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:1rem}
li,.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1rem}
.picture{display:grid;place-items:center;height:5rem;margin-bottom:.6rem;border-radius:.5rem;font-size:2rem;font-weight:700;color:#fff;background:linear-gradient(135deg,hsl(var(--hue) 55% 45%),hsl(calc(var(--hue) + 40) 60% 32%))}.card .picture{height:9rem;font-size:4rem}
li a{display:block}
.price,p{color:var(--soft)}`;function renderPage(title,content){return`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="data:,">
<style>${STYLE}</style></head>
<body><header><a class="brand" id="home" href="/">The demo shop</a>
<form action="/search"><input id="term" name="q" type="search" aria-label="Search" placeholder="tea, light, music \u2026"> <button id="find">Search</button></form></header>
<main>${content}</main></body></html>
`}function renderList(products){return`<ul>${products.map(({id,name,price})=>`<li><a href="/products/${id}">${renderPicture(name)}${name}</a> <span class="price">${price}</span></li>`).join(`
`)}</ul>`}function renderPicture(name){return`<span class="picture" style="--hue:${(47*name.charCodeAt(0)+91*name.length)%360}" aria-hidden="true">${name.charAt(0)}</span>`}function renderHome(){return renderPage("The demo shop",`<h1>Welcome to the shop</h1>
${renderList(PRODUCTS)}`)}function renderSearch(term){let words=term.toLowerCase().split(/\s+/).filter(Boolean),found=PRODUCTS.filter(product=>{let text=`${product.name} ${product.words}`.toLowerCase();return words.every(word=>text.includes(word))}),things=`${found.length} ${found.length===1?"thing":"things"} found`,about=words.length===0?"":`<p>Searched for \u201C${escapeHtml(term)}\u201D.</p>`;return renderPage("Search: the demo shop",`<h1>${things}</h1>
${about}
${renderList(found)}`)}function renderProduct(id){let{name,price}=PRODUCTS.find(product=>product.id===id)??{name:"A thing",price:"10.00"};return renderPage(`${name}: the demo shop`,`<h1>${name}</h1>
<div class="card">${renderPicture(name)}<p>In stock. <span class="price">${price}</span></p>
<form action="/checkout" method="post"><input type="hidden" name="product" value="${escapeHtml(id)}"><input id="user" name="user" aria-label="Your name" placeholder="Your name" required> <button id="buy">Buy</button></form></div>`)}function renderThanks(){return renderPage("Thank you: the demo shop",`<h1>Thank you</h1>
<p>Your order is on its way.</p>
<p><a id="again" href="/">Back to the shop</a></p>`)}function renderNotFound(){return renderPage("Not found: the demo shop",`<h1>No such page</h1>
<p><a href="/">Back to the shop</a></p>`)}function escapeHtml(text){return text.replace(/[&<>"']/g,character=>`&#${character.charCodeAt(0)};`)}var PAGES=[{name:"home",method:"GET",path:/^\/$/,delayMs:3,slowDelayMs:250,render:renderHome},{name:"search",method:"GET",path:/^\/search$/,delayMs:8,slowDelayMs:600,render:url=>renderSearch(url.searchParams.get("q")??"")},{name:"product",method:"GET",path:/^\/products\/[\w-]+$/,delayMs:5,slowDelayMs:400,render:url=>renderProduct(url.pathname.split("/").at(-1)??"")},{name:"checkout",method:"POST",path:/^\/checkout$/,delayMs:12,slowDelayMs:1200,render:renderThanks}],UNASKED=/^\/(?:favicon\.ico|apple-touch-icon[\w-]*\.png|robots\.txt|\.well-known\/.*)$/;async function startShop(options){let served=new Map,server=createServer((request,response)=>{let url=readUrl(request),isUnasked=UNASKED.test(url.pathname),page=PAGES.find(({method,path})=>method===request.method&&path.test(url.pathname));answer({request,response,url,page,slow:options.slow}),response.once("finish",()=>{let name=page?.name??"not found";isUnasked||served.set(name,(served.get(name)??0)+1),options.accessLog?.(`${request.method??"-"} ${request.url??"-"} ${response.statusCode} ${name}`)})});server.listen(options.port??0,"127.0.0.1"),await once(server,"listening");let{port}=server.address();return{url:`http://127.0.0.1:${port}`,port,served:page=>page===void 0?[...served.values()].reduce((sum,n)=>sum+n,0):served.get(page)??0,close:async()=>{server.close(),server.closeAllConnections(),await once(server,"close")}}}function readUrl({url="/"}){let address=`http://shop${url}`;return new URL(URL.canParse(address)?address:"http://shop/not-an-address")}function answer(exchange){let{request,response,url,page,slow}=exchange,send=()=>{let headers={"content-type":"text/html; charset=utf-8","cache-control":"no-store"};response.writeHead(page?200:404,headers),response.end(page?page.render(url):renderNotFound())};request.resume(),request.once("end",()=>setTimeout(send,page?slow?page.slowDelayMs:page.delayMs:0))}export{startShop};
