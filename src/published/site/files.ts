/** The files that the pages offer. */
import { once } from '../../fiscal/catalogs/table.ts';
import { grafanaBoard } from '../grafana.ts';
import { XSDS } from '../layout/xsd.ts';
import { projectText } from '../project-text.ts';

/** The attack corpora, in the order of their page; each is a file of `test/ataques`. */
export const ATAQUES = [
  'xml-assinatura',
  'canonicalizacao',
  'bombas',
  'json',
  'cms',
  'certificados',
  'http',
  'soap',
] as const;

/** The client as npm installs it, offered among the files. */
export const PACOTE_CLIENTE = 'emissor-nfse-cliente.tgz';

type Files = Readonly<Record<string, { readonly type: string; readonly text: () => string }>>;

/** The files by their public name. */
export const ARQUIVOS: Files = {
  ...filesIn('examples', [
    'dps.xml',
    'dps.json',
    'dps-producao.xml',
    'dps-producao.json',
    'evento.json',
    'prestadores.csv',
    'servicos.csv',
    'aliquotas.csv',
    'beneficios.csv',
    'deducoes.csv',
    'regimes.csv',
    'nao-incidencias.csv',
    'correlacao.csv',
  ]),
  ...filesIn('docs/site/exemplos', [
    'primeira-nota.mjs',
    'primeira-nota-cliente.mjs',
    'percurso.mjs',
    'percurso.py',
    'percurso.php',
    'Percurso.java',
    'Percurso.cs',
    'primeira_nota.py',
    'primeira-nota.php',
    'PrimeiraNota.java',
    'PrimeiraNota.cs',
    'danfse.mjs',
    'danfse.py',
    'danfse.php',
    'Danfse.java',
    'assinatura-modelo.xml',
    'lote-rps.xml',
    'assinatura-lote.xml',
    'cancelamento-nfse.xml',
  ]),
  'grafana-nfse.json': { type: typeOf('.json'), text: once(grafanaBoard) },
  ...(await import('../clientes/modelos.ts')).ARQUIVOS_DOS_CLIENTES,
  ...Object.fromEntries(
    ATAQUES.map((name) => [
      `ataques-${name}.json`,
      { type: typeOf('.json'), text: () => projectText(`test/ataques/${name}.json`) },
    ]),
  ),
  ...Object.fromEntries(Object.entries(XSDS).map(([name, text]) => [name, { type: typeOf(name), text }])),
};

function filesIn(folder: string, names: readonly string[]): Files {
  return Object.fromEntries(
    names.map((name) => [name, { type: typeOf(name), text: () => projectText(`${folder}/${name}`) }]),
  );
}

function typeOf(name: string): string {
  if (/\.(xml|xsd)$/.test(name)) return 'application/xml; charset=utf-8';
  if (name.endsWith('.json')) return 'application/json; charset=utf-8';
  return name.endsWith('.csv') ? 'text/csv; charset=utf-8' : 'text/plain; charset=utf-8';
}
