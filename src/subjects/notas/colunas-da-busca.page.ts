/** The columns of the list of notes: each reader chooses them, and the browser brings the choice back (D-848). */
import { boxes, carried, folded, keepDocumentos, mark, tokenField } from '../../base/pages/fields.ts';
import { readKept } from '../../base/pages/headers.ts';
import { type Answer, forRole, type InMunicipio, pathIn, type Row } from '../../base/pages/visit.ts';
import { showDocumento } from '../../fiscal/chave.ts';
import { nameClasseIssqn, REGIMES } from '../../fiscal/classe-issqn.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { type Html, html, type Inserted } from '../../published/site/page-shell.ts';
import { formTokenOf } from '../contas/entrada.ts';
import { CAMPOS_DA_BUSCA, type NotaAchada } from './buscar.ts';
import { nameServico } from './escolhas.ts';
import { ESTADOS } from './palavras.page.ts';

type Coluna = {
  readonly titulo: string;
  readonly isNumeric?: true;
  readonly write: (nota: NotaAchada) => Inserted;
};

/** Columns in their order, after the moment of issue, which is the link to the note. */
const COLUNAS = {
  numero: { titulo: 'Número', isNumeric: true, write: ({ numero_dps }) => numero_dps },
  estado: { titulo: 'Estado', write: ({ estado }) => mark(ESTADOS[estado]) },
  competencia: { titulo: 'Competência', write: ({ data_competencia: day }) => `${day.slice(5, 7)}/${day.slice(0, 4)}` },
  dps: { titulo: 'Série e DPS', write: ({ serie_dps, numero_dps_nacional }) => `${serie_dps}/${numero_dps_nacional}` },
  prestador: {
    titulo: 'Prestador',
    write: ({ prestador_cpf_cnpj, prestador_razao_social }) => party(prestador_cpf_cnpj, prestador_razao_social),
  },
  tomador: {
    titulo: 'Tomador',
    write: ({ tomador_cpf_cnpj, tomador_razao_social }) => party(tomador_cpf_cnpj, tomador_razao_social),
  },
  intermediario: {
    titulo: 'Intermediário',
    write: ({ intermediario_cpf_cnpj: documento }) => (documento === null ? undefined : showDocumento(documento)),
  },
  servico: { titulo: 'Serviço', write: ({ servico }) => (servico === null ? undefined : nameServico(servico)) },
  issqn: {
    titulo: 'Situação do ISSQN',
    write: ({ classe_issqn }) => nameClasseIssqn(classe_issqn),
  },
  regime: { titulo: 'Regime', write: ({ regime }) => (regime === null ? undefined : REGIMES[regime]) },
  valor: { titulo: 'Valor (R$)', isNumeric: true, write: ({ valor_servico }) => groupDecimal(valor_servico) },
  base: { titulo: 'Base (R$)', isNumeric: true, write: ({ valor_base_calculo }) => amount(valor_base_calculo) },
  aliquota: { titulo: 'Alíquota (%)', isNumeric: true, write: ({ aliquota_issqn }) => amount(aliquota_issqn) },
  valor_issqn: { titulo: 'ISSQN (R$)', isNumeric: true, write: ({ valor_issqn }) => amount(valor_issqn) },
} as const satisfies Readonly<Record<string, Coluna>>;

type NomeDeColuna = keyof typeof COLUNAS;

const NOMES = Object.keys(COLUNAS) as readonly NomeDeColuna[];
const USUAIS: readonly NomeDeColuna[] = ['numero', 'estado', 'prestador', 'tomador', 'valor'];
const COOKIE = 'colunas';

function amount(text: string | null): Inserted {
  return text === null ? undefined : groupDecimal(text);
}

function party(documento: string | null, nome: string | null): Inserted {
  if (documento === null) return nome ?? 'não informado';
  return html`${nome ?? ''} <small>${keepDocumentos(showDocumento(documento))}</small>`;
}

function pick(names: readonly string[]): readonly NomeDeColuna[] {
  const chosen = NOMES.filter((name) => names.includes(name));
  return chosen.length === 0 ? USUAIS : chosen;
}

/** Filters of the tax, whose results show it. */
const OF_ISSQN = ['issqn', 'competencia'] as const;

/** The columns that a browser asks for, in their order, with the ISSQN where the search is of it. */
export function chosenColumns({ request, query }: InMunicipio): readonly Coluna[] {
  const chosen = pick(readKept(request, COOKIE));
  const isOfIssqn = OF_ISSQN.some((name) => query.get(name));
  return pick(isOfIssqn ? [...chosen, 'valor_issqn'] : chosen).map((name) => COLUNAS[name]);
}

/** The choice of columns. `asked`: the search to which it leads back. */
export function columnsForm({ request, slug, visitor }: InMunicipio, asked: Readonly<Record<string, string>>): Html {
  return folded(
    'Colunas da lista',
    html`<form method="post" action="${pathIn(slug, COLUMNS_PATH)}">${tokenField(formTokenOf(visitor))}${carried(Object.entries(asked))}${boxes(
      {
        name: 'coluna',
        legend: 'Mostrar',
        choices: NOMES.map((name) => [name, COLUNAS[name].titulo] as const),
        ticked: pick(readKept(request, COOKIE)),
      },
    )}<p class="ajuda">Valem para as suas buscas neste navegador; sem nenhuma marcada, voltam as de costume. A busca por situação do ISSQN ou competência mostra também o ISSQN.</p>
<p class="botoes"><button class="simples">Mostrar estas colunas</button></p></form>
`,
  );
}

const COLUMNS_PATH = '/notas/colunas';

async function keepColumns({ slug, form }: InMunicipio): Promise<Answer> {
  const asked = Object.fromEntries(CAMPOS_DA_BUSCA.map((name) => [name, form.text(name)]));
  return { goTo: pathIn(slug, '/notas', asked), keep: { name: COOKIE, values: pick(form.texts('coluna')) } };
}

export const COLUNAS_ROUTES: readonly Row[] = [forRole('leitura', 'POST', COLUMNS_PATH, keepColumns)];
