/** The style of the documentation pages beside that of every page: menu, tables, and the parts that a printer omits. */
export const SITE_STYLE = `
body.site { max-width: 82rem; margin: 0 auto; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .75rem 1.25rem;
  border-bottom: 1px solid var(--line); }
.bar > a { font-weight: 600; text-decoration: none; padding: .35rem 0; }
.bar .search { position: relative; margin: 0 0 0 auto; flex: 0 1 24rem; }
.skip, .oculto { position: absolute; left: -99rem; top: 0; }
.skip:focus { position: static; }
.site > main { margin: 0; }
main:focus { outline: none; }
.up { margin: 0; font-size: .95rem; }
.sugestoes { position: absolute; z-index: 10; top: 100%; left: 0; right: 0; margin: .25rem 0 0; padding: .25rem 0; list-style: none;
  background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; max-height: 70vh; overflow-y: auto;
  box-shadow: 0 .5rem 1.5rem rgb(0 0 0 / .2); }
.site .sugestoes li { margin: 0; padding: .4rem .75rem; cursor: pointer; font-size: .95rem; line-height: 1.35; overflow-wrap: anywhere; }
.sugestoes small { display: block; color: var(--quiet); }
.sugestoes li[aria-selected=true], .sugestoes li:hover { background: var(--sheet); box-shadow: inset .2rem 0 var(--link); }
.fonte { position: relative; }
.site > main > .fonte { margin: .25rem 0 1rem; }
.copiar { position: absolute; top: .3rem; right: .3rem; font: inherit; font-size: .8rem; line-height: 1.2; color: var(--text);
  background: var(--paper); border: 1px solid var(--edge); border-radius: .3rem; padding: .3rem .55rem; cursor: pointer; }
@media (hover: hover) {
  .copiar { opacity: 0; }
  .fonte:hover .copiar, .fonte:focus-within .copiar { opacity: 1; }
}
@media (hover: none) { .copiar { position: static; display: block; margin: .25rem 0 0 auto; } }
.linguagens { display: flex; flex-wrap: wrap; gap: .25rem; border-bottom: 1px solid var(--line); margin: .75rem 0; }
.linguagens button { font: inherit; color: var(--link); background: none; border: 0; border-bottom: .2rem solid transparent;
  padding: .35rem .75rem; margin-bottom: -1px; cursor: pointer; }
.linguagens button[aria-selected=true] { color: var(--text); font-weight: 600; border-color: var(--link); }
.com-abas .aba > h3, .com-abas .aba > h4 { display: none; }
.aba > .fonte, .aba > pre { margin: .25rem 0 1rem; }
.aba > p { max-width: 46rem; }
.site > main > ol, .site > main > blockquote { max-width: 46rem; }
.site li { margin-bottom: .25rem; }
.site > main .table + p { margin-top: .75rem; }
.site > main > h2 { border-top: 1px solid var(--line); padding-top: 1.25rem; }
.site > main > pre, .site > main > .table { margin: .25rem 0 1rem; }
h2 .anchor, h3 .anchor, h4 .anchor { color: var(--quiet); font-weight: 400; text-decoration: none; opacity: 0; }
h2:hover .anchor, h3:hover .anchor, h4:hover .anchor, .anchor:focus-visible { opacity: 1; }
:target { scroll-margin-top: 1rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .95rem; }
caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { font-weight: 600; }
td { min-width: 5rem; overflow-wrap: break-word; }
.right { text-align: right; white-space: nowrap; }
blockquote { margin: 0 0 1rem; border-left: .25rem solid var(--link); background: var(--sheet); padding: .6rem 1rem; }
blockquote p:last-child { margin: 0; }
.quiet { color: var(--quiet); }
.toc { border: 1px solid var(--line); border-radius: .375rem; padding: .6rem 1rem; margin: 0 0 1.25rem; max-width: 46rem; }
.toc b { display: block; font-size: .9rem; color: var(--quiet); }
.toc ul { columns: 2 14rem; margin: .25rem 0 0; padding: 0; list-style: none; }
.toc li { break-inside: avoid; }
.menu { padding: .5rem 1.25rem 2rem; font-size: .925rem; line-height: 1.4; border-top: 1px solid var(--line); }
.menu h2 { font-size: .825rem; color: var(--quiet); font-weight: 600; margin: .6rem 0 .1rem; }
.site .menu li { margin: 0; }
.menu ul { list-style: none; padding: 0; margin: 0; }
.menu a { display: block; padding: .1rem .5rem; margin-left: -.5rem; text-decoration: none; border-radius: .25rem; }
.menu a[aria-current] { background: var(--sheet); color: var(--text); font-weight: 600; }
.desenho { border: 0; padding: 0; max-width: 30rem; }
.desenho svg { display: block; width: 100%; height: auto; }
.desenho figcaption { font-weight: 400; color: var(--quiet); font-size: .95rem; margin: .35rem 0; }
.desenho summary { cursor: pointer; color: var(--link); }
.desenho li { overflow-wrap: anywhere; }
.desenho text { fill: var(--text); font-size: 12px; }
.desenho .estado, .desenho .gatilho { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
.desenho .estado, .desenho .forte { font-weight: 600; }
.desenho .gatilho, .desenho .mostra { fill: var(--quiet); }
.cartao { fill: none; stroke: var(--edge); }
.cabeca { fill: var(--sheet); stroke: var(--edge); stroke-width: 1.5; }
.fio { fill: none; stroke: var(--link); stroke-width: 1.5; }
.folga { fill: none; stroke: var(--paper); stroke-width: 5; }
.vida { fill: none; stroke: var(--edge); stroke-dasharray: 3 4; }
.seta, .ponto { fill: var(--link); }
.comeco { fill: var(--text); }
.cabeca.curso { stroke: var(--link); }
.cabeca.bom { stroke: var(--good); }
.cabeca.erro { stroke: var(--bad); }
.fio.bom { stroke: var(--good); }
.fio.erro { stroke: var(--bad); }
.fio.fim { stroke: var(--edge); }
.seta.bom, .ponto.bom { fill: var(--good); }
.seta.erro, .ponto.erro { fill: var(--bad); }
.seta.fim, .ponto.fim { fill: var(--edge); }
.quadro { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1rem; align-items: start;
  max-width: 60rem; margin: .5rem 0 1.5rem; }
.quadro svg { display: block; width: 100%; height: auto; }
.site > main > .results { list-style: none; padding: 0; }
.results > li { border-top: 1px solid var(--line); padding: .6rem 0; }
.results small { color: var(--quiet); border: 1px solid var(--line); border-radius: 1rem; padding: .05rem .5rem; white-space: nowrap; }
.results mark { color: var(--text); }
.results p { margin: .15rem 0 0; color: var(--quiet); font-size: .95rem; }
.calculator { display: grid; gap: .5rem 1.25rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr));
  align-items: end; max-width: 46rem; border: 1px solid var(--line); border-radius: .375rem; padding: 1rem; margin-bottom: 1rem; }
.calculator p { margin: 0; min-width: 0; }
.calculator label { display: block; font-size: .9rem; color: var(--quiet); margin-bottom: .15rem; }
.calculator input, .calculator select { width: 100%; }
.calculator input, .calculator select, .calculator button { font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--edge); border-radius: .375rem; padding: 0 .6rem; height: 2.6rem; }
.calculator button { background: var(--sheet); cursor: pointer; padding: 0 1.25rem; }
.result { border-left: .25rem solid var(--link); padding-left: 1rem; margin-bottom: 1.5rem; }
.result h3 { margin-top: 0; }
ol.anotado { margin: 0; padding-left: 3.5rem; font-size: .9rem; max-width: none; }
ol.anotado li { margin: 0; }
ol.anotado code { white-space: pre; background: none; padding: 0; }
.com-erro > code { text-decoration: underline wavy; }
.falta { border-left: .2rem solid currentColor; margin: .25rem 0 .5rem; padding: .1rem .75rem; max-width: 60rem; }
.tabela { overflow-x: auto; margin: .25rem 0 1rem; }
.num { text-align: right; white-space: nowrap; }
.recado { border-left: .3rem solid var(--link); background: var(--sheet); padding: .6rem 1rem; max-width: 60rem; }
.conferir textarea, #corrigido, .texto { font: inherit; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9rem; color: inherit;
  background: var(--paper); border: 1px solid var(--edge); border-radius: .375rem; width: 100%; max-width: 60rem; padding: .5rem; }
.conferir button { font: inherit; color: inherit; background: var(--sheet); padding: .4rem 1.1rem; cursor: pointer;
  border: 1px solid var(--edge); border-radius: .375rem; }
.conferir input:not([type=hidden]):not([type=file]) { font: inherit; color: inherit; background: var(--paper); max-width: 100%;
  padding: .35rem .6rem; border: 1px solid var(--edge); border-radius: .375rem; }
.conferir select { font: inherit; color: inherit; background: var(--paper); max-width: 100%; padding: .35rem .6rem; border: 1px solid var(--edge); border-radius: .375rem; }
.caixa { display: flex; gap: .6rem; align-items: baseline; }
.cadastro td, .cadastro th { white-space: nowrap; }
.recusadas li { overflow-wrap: anywhere; }
.conferir input#chave { width: 30rem; }
.linha { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; }
.recado + p { margin-top: .75rem; }
.recado.bom { border-color: var(--good); }
.recado.erro { border-color: var(--bad); }
.quebra { white-space: pre-wrap; overflow-wrap: anywhere; }
.alto { max-height: 28rem; overflow-y: auto; }
.marca { display: inline-block; border: 1px solid currentColor; border-radius: .3rem; padding: 0 .4rem; font-weight: 600;
  font-variant-numeric: tabular-nums; }
.marca.bom { color: var(--good); }
.marca.erro { color: var(--bad); }
.dobra { border: 1px solid var(--line); border-radius: .375rem; padding: .5rem .9rem; margin: 0 0 .5rem; max-width: 60rem; }
.dobra > summary { cursor: pointer; font-weight: 600; }
.dobra > summary .quiet { white-space: nowrap; font-weight: 400; font-size: .9rem; margin-left: .5rem; }
.dobra[open] > summary { margin-bottom: .5rem; }
.dobra h3 { margin: 1.25rem 0 .25rem; }
.dobra .linha { margin: 0 0 .5rem; }
.ultimas td { white-space: nowrap; }
.ultimas td:last-child { white-space: normal; overflow-wrap: anywhere; }
@media (min-width: 60rem) {
  body.site { display: grid; grid-template-columns: 16rem minmax(0, 1fr); grid-template-areas: "bar bar" "menu main"; }
  .bar { grid-area: bar; }
  .site > main { grid-area: main; padding-left: 2rem; }
  .menu { grid-area: menu; border-top: 0; align-self: start; position: sticky; top: 0; max-height: calc(100vh - 4.5rem); overflow-y: auto; }
  .site > main { border-left: 1px solid var(--line); }
  .bar .to-menu { display: none; }
}
@media (max-width: 32rem) {
  .bar .search { flex: 1 1 100%; margin: 0; }
  .menu a { padding: .35rem .5rem; }
  .site > main > ul, .site > main > ol { padding-left: 1.25rem; }
  .bar, .menu { padding-left: 1rem; padding-right: 1rem; }
  td { padding-right: .5rem; }
  td:last-child { overflow-wrap: anywhere; }
  .wide table, .wide tbody, .wide tr, .wide td { display: block; }
  .wide thead { position: absolute; left: -99rem; }
  .wide tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .wide td { border: 0; padding: .1rem 0; overflow-wrap: anywhere; }
  .wide td:first-child { font-weight: 600; }
  .wide td:empty { display: none; }
  .wide td[data-l]::before { content: attr(data-l) ": "; color: var(--quiet); }
  .wide .right { text-align: left; white-space: normal; }
}
@media print {
  body.site { display: block; }
  .bar, .menu, .toc, .anchor, .around, .calculator, .copiar, .linguagens { display: none; }
  .aba[hidden] { display: block !important; }
  .site > main { padding: 0; max-width: none; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  .table { overflow: visible; }
  h2, h3 { break-after: avoid; }
  pre, tr, blockquote { break-inside: avoid; }
}
`;
