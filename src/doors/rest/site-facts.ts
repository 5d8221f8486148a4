/** Facts about this door for the pages of the documentation: its limits, its addresses, its catalogs. Each is Markdown. */

import { ASIDE_BYTES, ASIDE_CPU_MAX_MS } from '../../base/http/aside.ts';
import { CLOSE_MAX_MS } from '../../base/http/end-in-order.ts';
import { DISCARD_MAX_BYTES } from '../../base/http/exchange.ts';
import { CONNECTIONS_MAX, KEEP_ALIVE_MS, REQUEST_TIMEOUT_MS } from '../../base/http/http.ts';
import { LOOKS_MAX, MISSES_MAX } from '../../base/http/misses.ts';
import { KEY_CHARS_MAX } from '../../base/http/repetition.ts';
import { VARIABLES_HELP } from '../../base/terminal/variables.ts';
import { SALAS } from '../../base/world/lugares.ts';
import { SITE_TIMES } from '../../base/world/redes.ts';
import type { TipoXlsx } from '../../documents/write-xlsx.ts';
import { CATALOGOS_NACIONAIS, type NomeDeCatalogo } from '../../fiscal/catalogs/itens.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { TIPOS_EVENTO } from '../../fiscal/tipos-evento.ts';
import { BODY_MAX_TEXT, DRAIN_DEFAULT_S, HEADERS_MAX_TEXT, URL_MAX_TEXT } from '../../published/http-limits.ts';
import { code, table, writeBraces } from '../../published/markdown.ts';
import type { ShapeName } from '../../published/openapi/field.ts';
import type { Facts } from '../../published/site/facts.ts';
import { FRESH_S, PAGINA_PARAMS, POR_PAGINA, POR_PAGINA_MAX } from '../../subjects/cadastros/catalogos.rest.ts';
import { CONVITE_MS } from '../../subjects/contas/convites.ts';
import { IDLE_MS, SESSION_MS } from '../../subjects/contas/entrada.ts';
import { COLUNAS_DA_NOTA } from '../../subjects/notas/colunas-da-nota.ts';
import { EXPORTACAO_DIAS, EXPORTACAO_NOTAS_MAX, EXPORTACOES_MAX } from '../../subjects/partes/exportacoes.ts';
import { PARTE_FACTS } from './facts-da-parte.ts';
import { ROUTES } from './routes.ts';
import { SHAPES } from './shapes.ts';

/** The public lists of every subject: the filters of each without those of a page, and the shape of its items. */
const CATALOGOS = ROUTES.filter(({ path }) => path.includes('/catalogo/')).map(({ path, query = {}, fields }) => ({
  nome: path.slice(path.lastIndexOf('/') + 1),
  filtros: Object.entries(query).filter(([name]) => !Object.hasOwn(PAGINA_PARAMS, name)),
  item: fields['itens']!.type.replace('[]', '') as ShapeName,
}));

export const DOOR_FACTS: Facts = {
  ...PARTE_FACTS,
  'limite-corpo': () => BODY_MAX_TEXT,
  'limite-a-parte': () => `${ASIDE_BYTES / 2 ** 10} KiB`,
  'limite-a-parte-espera': () => `${SALAS.corpos_grandes.producao}`,
  'respostas-retidas': () => `${SALAS.respostas_retidas.homologacao}`,
  'limite-vezes-rede': () => `${SITE_TIMES}`,
  'limite-conexoes': () => groupDigits(CONNECTIONS_MAX),
  'limite-processador': () => `${ASIDE_CPU_MAX_MS / 1_000} s`,
  'limite-descarte': () => `${DISCARD_MAX_BYTES / 2 ** 20} MiB`,
  'limite-endereco': () => URL_MAX_TEXT,
  'limite-cabecalhos': () => HEADERS_MAX_TEXT,
  'limite-envio': () => `${REQUEST_TIMEOUT_MS / 1_000} segundos`,
  variaveis: () =>
    table(
      ['Variável', 'Para quê'],
      VARIABLES_HELP.map(([name, help]) => [code(name), help]),
    ),
  'painel-convite': () => `${CONVITE_MS / 3_600_000} horas`,
  'painel-parada': () => `${IDLE_MS / 60_000} minutos`,
  'painel-sessao': () => `${SESSION_MS / 3_600_000} horas`,
  'espera-ao-encerrar': () => `${DRAIN_DEFAULT_S} segundos`,
  'encerrar-ociosa': () => `${KEEP_ALIVE_MS / 1_000} segundos`,
  'encerrar-maximo': () => `${CLOSE_MAX_MS / 1_000} segundos`,
  'limite-consultas-vas': () => `${MISSES_MAX} por minuto`,
  'limite-buscas-vas': () => `${LOOKS_MAX} por minuto`,
  'limite-exportacao': () => groupDigits(EXPORTACAO_NOTAS_MAX),
  'limite-exportacoes': () => `${EXPORTACOES_MAX}`,
  'exportacao-dias': () => `${EXPORTACAO_DIAS}`,
  'tabela-colunas-da-nota': () =>
    table(
      ['Na planilha', 'No CSV', 'Tipo', 'O que é'],
      COLUNAS_DA_NOTA.map(({ titulo, coluna, tipo, oQue }) => [titulo, code(coluna), TIPOS_DE_COLUNA[tipo], oQue]),
    ),
  'limite-chave': () => `${KEY_CHARS_MAX} caracteres`,
  'limite-pagina': () => `de 1 a ${POR_PAGINA_MAX}, ${POR_PAGINA} quando não se diz`,
  'limite-catalogo-cache': () => (FRESH_S === 3_600 ? 'uma hora' : `${FRESH_S} segundos`),
  'tabela-enderecos': () =>
    table(
      ['Endereço', 'O que faz'],
      ROUTES.filter(({ path }) => !path.includes('/catalogo/')).map(({ method, path, summary, deprecated, status }) => [
        code(`${method} /{municipio}${writeBraces(path)}`),
        deprecated && status !== 410 ? `${summary} *Mantido para quem já usa.*` : summary,
      ]),
    ),
  'tabela-catalogos': () =>
    table(
      ['Nome', 'Filtros', 'Itens'],
      CATALOGOS.map(({ nome, filtros }) => [
        code(nome),
        filtros.map(([filtro]) => code(filtro)).join(', '),
        countOf(nome),
      ]),
    ),
  'itens-dos-catalogos': () =>
    table(
      ['Nome', 'Campos do item'],
      CATALOGOS.map(({ nome, item }) => [code(nome), Object.keys(SHAPES[item]!).map(code).join(', ')]),
    ),
  'filtros-dos-catalogos': () =>
    CATALOGOS.map(
      ({ nome, filtros }) =>
        `- ${code(nome)}: ${filtros
          .map(([filtro, sobre]) => `${code(filtro)} (${lowerInitial(sobre.replace(/\.$/, ''))})`)
          .join('; ')}.`,
    ).join('\n'),
};

const TIPOS_DE_COLUNA: Readonly<Record<TipoXlsx, string>> = {
  texto: 'texto',
  data: 'data',
  momento: 'data e hora',
  numero: 'número',
  valor: 'reais',
  percentual: 'por cento',
};

function countOf(nome: string): string {
  const catalogo = CATALOGOS_NACIONAIS[nome as NomeDeCatalogo];
  if (catalogo !== undefined) return String(catalogo().itens.length);
  return nome === 'motivos_evento' ? String(TIPOS_EVENTO.length) : 'os do município';
}

function lowerInitial(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
