import { COLOURS, declareColours } from '../../published/site/palette.ts';

/** The colours of the console alone. */
const MORE = {
  'info-sheet': ['#edf5ff', '#12294f'],
  'bad-sheet': ['#fde0db', '#45181a'],
  'good-sheet': ['#e3f5e1', '#14361f'],
  'warn-sheet': ['#fff5c2', '#3d3110'],
  on: ['#fff', '#071d41'],
  focus: ['#c2850c', '#ffbe2e'],
} as const;

/** The style of the console: colours, shapes and words that civil servants know from the federal design system (D-846). */
export const STYLE = `
${declareColours({ ...COLOURS, ...MORE })}
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--text);
  font: 1rem/1.5 Rawline, Raleway, system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; font-variant-numeric: lining-nums; }
[hidden] { display: none !important; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: .2rem dashed var(--focus); outline-offset: .15rem; }
main:focus { outline: none; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .35rem; }
p, ul, ol { margin: 0 0 .75rem; max-width: 46rem; }
small, .quieto { color: var(--quiet); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { background: var(--sheet); border: 1px solid var(--line); border-radius: .375rem; padding: .75rem 1rem; overflow-x: auto; }
.salto { position: absolute; left: -99rem; }
.salto:focus { position: static; display: block; padding: .5rem 1rem; }
.barra { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: .5rem 1.25rem;
  border-bottom: 1px solid var(--line); background: var(--bar, var(--paper)); color: var(--on-bar, var(--text)); }
.barra b { overflow-wrap: anywhere; }
.barra a { color: var(--on-bar, var(--link)); }
.barra :focus-visible { outline-color: var(--on-bar, var(--focus)); }
.brasao { height: 2.5rem; width: auto; max-width: 7.5rem; }
.barra form { margin: 0; }
.barra .marca { font-weight: 700; text-decoration: none; color: var(--on-bar, var(--text)); }
.barra button.simples { color: var(--on-bar, var(--link)); border-color: var(--on-bar, var(--edge)); }
.barra .ao-lado { margin-left: auto; }
.menu { border-bottom: 1px solid var(--line); }
.menu ul { display: flex; flex-wrap: wrap; list-style: none; margin: 0; padding: 0 .5rem; max-width: none; }
.menu a { display: block; padding: .55rem .75rem .4rem; border-bottom: .25rem solid transparent; text-decoration: none; white-space: nowrap; }
.menu a:hover { background: var(--info-sheet); }
.menu a[aria-current] { border-color: var(--link); font-weight: 600; }
.menu.dobrado { display: none; }
.menu summary { padding: .6rem 1rem; }
main { padding: 1.25rem 1.25rem 4rem; max-width: 80rem; overflow-wrap: break-word; }
.estreita { max-width: 28rem; }
.campo { margin: 0 0 1rem; max-width: 32rem; }
.campo label { display: block; font-weight: 600; margin-bottom: .2rem; }
.campo label small { font-weight: 400; }
.campo .ajuda { margin: 0 0 .25rem; color: var(--quiet); font-size: .9rem; }
.campo .erro { margin: .25rem 0 0; color: var(--bad); }
input, select, textarea, button, .botao { font: inherit; color: inherit; border: 1px solid var(--edge); border-radius: .25rem; }
input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea { width: 100%; background: var(--paper); padding: .45rem .65rem; }
input[type=color][name] { max-width: 8rem; height: 2.5rem; padding: .2rem; }
input[aria-invalid], textarea[aria-invalid], select[aria-invalid] { border-color: var(--bad); }
button, .botao { display: inline-block; border-radius: 2rem; background: var(--link); color: var(--on); border-color: var(--link); padding: .45rem 1.1rem;
  cursor: pointer; text-decoration: none; font-weight: 600; }
button.grave { background: var(--bad); border-color: var(--bad); }
button.simples, .botao.simples { background: transparent; color: var(--link); border-color: var(--edge); font-weight: 400; padding: .3rem .8rem; }
.botoes { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
.recado { border-left: .3rem solid var(--link); background: var(--info-sheet); padding: .6rem 1rem; margin: 0 0 1rem; max-width: 60rem; }
.recado.bom { border-color: var(--good); background: var(--good-sheet); }
.recado.aviso { border-color: var(--warn); background: var(--warn-sheet); }
.recado.erro { border-color: var(--bad); background: var(--bad-sheet); }
.recado .quieto, .recado small { color: inherit; }
.recado p:last-child { margin: 0; }
.estado { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem; font-size: .9rem; line-height: 1.35rem;
  font-weight: 600; color: var(--quiet); background: var(--sheet); }
.estado.bom { color: var(--good); background: var(--good-sheet); }
.estado.aviso { color: var(--warn); background: var(--warn-sheet); }
.estado.erro { color: var(--bad); background: var(--bad-sheet); }
td:first-child:has(+ .num) { min-width: 9rem; }
td .estado, .inteiro { white-space: nowrap; }
.tabela { position: relative; overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; font-size: .95rem; min-width: 100%; }
caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
h1 + .tabela caption, h2 + .tabela caption, .empilha caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
thead th { background: var(--sheet); color: var(--link); vertical-align: bottom; }
tbody tr:hover { background: var(--info-sheet); }
.num { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.fatos { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .5rem 1.5rem; margin: 0 0 1rem; }
.fatos dt { color: var(--quiet); font-size: .9rem; }
.fatos dd { margin: 0; overflow-wrap: anywhere; }
.cartoes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 13rem), 1fr)); gap: .75rem; margin: 0 0 1rem; }
.cartao { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; }
.cartao + .cartao { margin-top: .75rem; }
.cartoes > .cartao { margin: 0; }
.cartao b { display: block; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
.filtros { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 11rem), 1fr)); gap: .5rem 1rem; align-items: end; margin: 0 0 1rem;
  max-width: 70rem; }
.filtros > button { justify-self: start; }
.procura { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 0 0 1rem; max-width: 46rem; }
.procura .campo { flex: 1 1 16rem; margin: 0; max-width: none; }
.filtros label small { display: none; }
.filtros .campo { margin: 0; max-width: none; min-width: 0; }
.marcas span { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6rem; margin: 0 .25rem .25rem 0; }
td code { overflow-wrap: normal; }
ins, del { overflow-wrap: anywhere; }
ins { text-decoration: none; font-weight: 600; color: var(--good); }
fieldset { min-width: 0; border: 1px solid var(--line); border-radius: .5rem; padding: .6rem 1rem; margin: 0 0 1rem; max-width: 46rem; }
legend { font-weight: 600; padding: 0 .35rem; }
.marcar { display: flex; gap: .6rem; align-items: baseline; margin: 0 0 .5rem; }
.marcar code { font-weight: 600; }
.segredo { user-select: all; max-width: 46rem; white-space: pre-wrap; }
div.botoes { margin: 0 0 .75rem; }
.largo { display: inline-block; min-width: 13rem; }
code.largo { overflow-wrap: anywhere; }
a .largo { text-decoration: underline; }
td ol { margin: 0; padding-left: 1.25rem; }
.campo:has(#campo-documento[rows], #corrigido) { max-width: 60rem; }
#corrigido, textarea#campo-documento { font-family: ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; font-size: .9rem; }
ol.anotado { margin: 0; padding-left: 3.5rem; font-size: .9rem; }
ol.anotado li::marker { color: var(--quiet); font-variant-numeric: tabular-nums; }
ol.anotado code { white-space: pre; background: none; padding: 0; }
ol.anotado li.salta { list-style: none; color: var(--quiet); }
.com-erro > code { text-decoration: underline wavy var(--bad, currentColor); }
.falta { border-left: 3px solid currentColor; margin: .25rem 0 .5rem; padding: .1rem .75rem; white-space: normal; max-width: 60rem; }
.qr { display: block; width: min(100%, 22rem); aspect-ratio: 1; background: #fff; padding: 2rem; border-radius: .375rem; }
.qr path { fill: #000; }
.grafico { display: block; width: 100%; max-width: 60rem; height: auto; }
.grafico .malha { stroke: var(--line); }
.grafico .eixo { fill: var(--quiet); font-size: 11px; }
.barra-do-grafico { fill: var(--link); }
progress { width: 100%; max-width: 32rem; height: 1.1rem; accent-color: var(--link); }
details > summary { cursor: pointer; }
.dobra { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem 1rem; margin: 0 0 .75rem; max-width: 46rem; }
.dobra > summary { font-weight: 600; }
.dobra > summary small { font-weight: 400; }
.dobra[open] > summary { margin-bottom: .75rem; }
td form .botoes, td form { margin: 0; }
.oculto { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 48rem) {
  .menu { display: none; }
  .menu.dobrado { display: block; }
  .menu.dobrado ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); padding: 0 .25rem .5rem; }
}
@media (max-width: 32rem) {
  .tabela table, .tabela caption, .tabela tbody, .tabela tr, .tabela td { display: block; }
  .tabela thead { display: block; position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .tabela tr { border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .tabela td { border: 0; padding: .05rem 0; overflow-wrap: anywhere; text-align: left; white-space: normal; min-width: 0; }
  .tabela td:first-child { font-weight: 600; }
  .tabela td:empty { display: none; }
  .tabela td code { overflow-wrap: anywhere; }
  .tabela td:not(:first-child)[data-nome]::before { content: attr(data-nome) ": "; color: var(--quiet); font-weight: 400; }
  main { padding: 1rem 1rem 3rem; }
  .barra { padding-left: 1rem; padding-right: 1rem; }
}
@media print { .barra, .menu, .botoes { display: none; } body { background: #fff; color: #000; } }
`;
