/**
 * Proves that rows of a note are in the municipality's audit chain, up to a seal that the municipality signed. The proof is small text
 * files and a short script of `sha256sum` that calculates them again.
 */

import type { Elo } from '../../base/book/auditoria-hash.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import { MINUTE_MS } from '../../fiscal/moment.ts';
import type { Prova } from '../auditoria/auditoria.rows.ts';
import type { ArquivoDoConjunto, Conferencia, Parte } from './partes.ts';
import { gatherRecebido } from './recebido.ts';

/** A row of the chain, with its description. */
export type LinhaProvada = {
  readonly tabela: Prova['tabela'];
  readonly chave: readonly string[];
  readonly oQue: string;
  /** The moment of its present state. */
  readonly desde: Date;
  /** Files of the bundle that the row contains, as text or as digest. */
  readonly traz?: readonly Trazido[] | undefined;
};

/** `feitoPor`: a command that makes the file out of another one. */
export type Trazido = { readonly nome: string; readonly oQue?: string; readonly feitoPor?: string };

const PASTA = '6-trilha/auditoria';
export async function gatherAuditoria(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  linhas: readonly LinhaProvada[],
): Promise<Parte> {
  const { tenant } = municipio;
  const { auditoria } = world.store;
  const provas: { readonly linha: LinhaProvada; readonly prova: Prova }[] = [];
  // Rows of one minute are searched from one place on.
  const places = new Map<number, Promise<number>>();
  for (const linha of linhas) {
    const minute = Math.floor(linha.desde.getTime() / MINUTE_MS) * MINUTE_MS;
    const from = await places.getOrInsertComputed(minute, () => auditoria.findLugar(tenant, minute));
    const prova = await auditoria.proofOf(tenant, linha.tabela, linha.chave, from);
    if (prova !== undefined) provas.push({ linha, prova });
  }
  const unproved = linhas.filter((linha) => provas.every((one) => one.linha !== linha));
  const titulo = 'A prova de que nada disso foi mudado depois';
  if (provas.length === 0) return { titulo, paragrafos: [NONE], arquivos: [], conferencias: [] };
  const selos = new Map(provas.flatMap(({ prova: { selo } }) => (selo === undefined ? [] : [[selo.dia, selo]])));
  const sealed: Omit<Parte, 'titulo'>[] = [];
  for (const selo of selos.values()) {
    const first = provas.flatMap(({ prova }) => (prova.selo?.dia === selo.dia ? [prova] : []));
    const { anterior, entrada } = first.reduce((one, two) => (two.entrada.lugar < one.entrada.lugar ? two : one));
    const elos = await auditoria.readElos(tenant, entrada.lugar, selo.lugar);
    sealed.push(
      { ...correnteOf(selo.dia, anterior, elos), conferencias: [] },
      await gatherSelo(world, municipio, selo),
    );
  }
  const unsealed = provas.flatMap(({ prova: { selo } }, place) => (selo === undefined ? [numbered(place + 1)] : []));
  const check = {
    oQue: 'Cada linha provada está na corrente, e a corrente chega ao selo onde há um',
    comando: `sh ${PASTA}/conferir.sh ${PASTA}`,
    resposta: 'TODAS AS PROVAS CONFEREM',
  };
  return {
    titulo,
    paragrafos: [
      CHAIN,
      ROWS,
      ...describeSeals(selos.size, unsealed),
      ...describeUnproved(unproved),
      ...sealed.flatMap(({ paragrafos }) => paragrafos),
    ],
    arquivos: [
      {
        nome: `${PASTA}/conferir.sh`,
        conteudo: Buffer.from(SCRIPT),
        oQue: 'Refaz as provas com sha256sum: leia-o antes.',
      },
      ...(provas.some(({ linha }) => linha.traz !== undefined) ? [TRAZ] : []),
      ...provas.flatMap(({ linha, prova }, place) => filesOf(linha, prova, place + 1)),
      ...sealed.flatMap(({ arquivos }) => arquivos),
    ],
    conferencias: [
      check,
      ...provas.flatMap(({ linha }, place) => tieOf(linha, place + 1)),
      ...sealed.flatMap(({ conferencias }) => conferencias),
    ],
  };
}

function describeUnproved(linhas: readonly LinhaProvada[]): readonly string[] {
  if (linhas.length === 0) return [];
  const named = linhas.map(({ oQue }) => oQue).join('; ');
  return [
    `Sem prova ficou, embora esteja neste conjunto: ${named}. A corrente não conhece essas linhas como estão: ou são de antes dela, ou foram mudadas por fora do serviço. O município diz qual dos dois, com a conferência da corrente inteira (nfse auditoria verificar).`,
  ];
}

const numbered = (place: number): string => String(place).padStart(3, '0');

/** The check that a file of the bundle is the one in a proved row. */
function tieOf({ oQue, traz }: LinhaProvada, place: number): readonly Conferencia[] {
  const told = `${oQue.charAt(0).toLowerCase()}${oQue.slice(1)}`;
  return (traz ?? []).map(({ nome, oQue: what = nome, feitoPor }) => {
    const tie = `sh ${PASTA}/traz.sh ${PASTA}/linha-${numbered(place)}.txt ${nome}`;
    return {
      oQue: `A linha ${numbered(place)} (${told}) é mesmo a de ${what}`,
      comando: feitoPor === undefined ? tie : `${feitoPor} && ${tie}`,
      resposta: `${nome}: CONFERE`,
    };
  });
}

/** A seal is a JSON with its signature beside it, like a received request. */
function gatherSelo(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  { dia, texto, assinatura }: NonNullable<Prova['selo']>,
): Promise<Omit<Parte, 'titulo'>> {
  return gatherRecebido(world, municipio, {
    ...{ pasta: `${PASTA}/selo-${dia}`, nome: 'selo', oQue: `O selo de ${dia}: até onde ia a corrente.` },
    ...{ bytes: Buffer.from(texto), assinatura: assinatura.toString('base64'), confianca: 'própria' },
    oQueAssinatura: 'A assinatura do município sobre o selo (CMS destacado, em DER).',
    at: Date.parse((JSON.parse(texto) as { readonly em: string }).em),
  });
}

const NONE =
  'Nada desta nota está ainda na corrente de auditoria do município: ou é de antes dela, ou acaba de ser gravado. Peça o conjunto outra vez daqui a um minuto.';
const CHAIN =
  'O que o serviço grava entra numa corrente: cada elo traz o resumo do anterior, de modo que nada se muda, tira ou põe no meio sem que os seguintes deixem de conferir. Cada prova é uma linha gravada, as que entraram com ela, só pelo resumo, o elo em que entraram, e os elos até o selo do dia.';
const ROWS =
  'Uma linha é o nome da tabela e, abaixo, os valores dela num JSON, todos como texto: um momento é o número de microssegundos desde 1970 (date -u -d @SEGUNDOS o escreve), e um documento ou uma assinatura é o seu SHA-256. A linha 001 traz a chave de acesso e o número (id) por que as outras citam a nota. O que uma linha diz se compara, à vista, com 6-trilha/movimentos.json e com os documentos; para os arquivos há um comando abaixo.';
const SEALED = 'O selo é assinado pelo município: a corrente até ele não pode ter sido refeita depois desse dia.';
const UNSEALED =
  'Nenhum selo foi feito desde então, ou o município não tem certificado: as provas mostram que as linhas estão na corrente, e não de quando ela é.';

function describeSeals(selos: number, unsealed: readonly string[]): readonly string[] {
  if (selos === 0) return [UNSEALED];
  if (unsealed.length === 0) return [SEALED];
  return [
    SEALED,
    `De depois do último selo são as linhas ${unsealed.join(', ')}: a prova mostra que estão na corrente, e ainda não de quando ela é. Faz-se um selo a cada dia que acaba.`,
  ];
}

const eloLine = ({ lugar, folhas, em, id, raiz, sobre }: Elo): string =>
  `elo=${[lugar, folhas, em, id, raiz, sobre].join(' ')}`;

const correnteNome = (dia: string): string => `corrente-${dia}.txt`;

/** Links that the script calculates within a minute: each takes a few milliseconds. */
const QUICK_ELOS = 5_000;
const ELOS_A_MINUTE = 20_000;

/** The chain from the first proved entry of a day to its seal, once for all proofs that end there. */
function correnteOf(dia: string, anterior: string, elos: readonly Elo[]): Pick<Parte, 'paragrafos' | 'arquivos'> {
  const lines = [`anterior=${anterior}`, ...elos.map(eloLine), `selo=selo-${dia}/selo.json`];
  const slow = `Até o selo de ${dia} são ${elos.length} elos: a conferência leva uns ${Math.ceil(elos.length / ELOS_A_MINUTE)} minutos.`;
  return {
    paragrafos: elos.length > QUICK_ELOS ? [slow] : [],
    arquivos: [
      {
        nome: `${PASTA}/${correnteNome(dia)}`,
        conteudo: Buffer.from(`${lines.join('\n')}\n`),
        oQue: `Os elos da corrente, do primeiro que as provas citam até o selo de ${dia}: ${elos.length}.`,
      },
    ],
  };
}

/** A proof as lines in the order of the script's calculation. */
function filesOf({ oQue }: LinhaProvada, prova: Prova, place: number): readonly ArquivoDoConjunto[] {
  const { texto, sal, item, antes, depois, anterior, entrada, selo } = prova;
  const name = numbered(place);
  const lines = [
    `texto=linha-${name}.txt`,
    `sal=${sal}`,
    `item=${item}`,
    `antes=${antes}`,
    `depois=${depois}`,
    `raiz=${entrada.raiz}`,
    `anterior=${anterior}`,
    eloLine(entrada),
    ...(selo === undefined ? [] : [`corrente=${correnteNome(selo.dia)}`]),
  ];
  return [
    {
      nome: `${PASTA}/linha-${name}.txt`,
      conteudo: Buffer.from(texto),
      oQue: `${oQue}: o texto que está na corrente.`,
    },
    {
      nome: `${PASTA}/prova-${name}.txt`,
      conteudo: Buffer.from(`${lines.join('\n')}\n`),
      oQue: 'O que leva dela ao elo em que entrou.',
    },
  ];
}

/** The script uses only the POSIX shell, `sha256sum` and `awk`. */
const SCRIPT = `#!/bin/sh
# Refaz cada prova só com sha256sum. Uso: sh conferir.sh PASTA
set -euf
cd "$1"
resumo() { sha256sum | cut -c1-64; }
# Os octetos de um número em hexadecimal.
octetos() {
  printf "$(printf '%s\\n' "$1" | awk '{ h = "0123456789abcdef"; for (i = 1; i < length($0); i += 2)
    printf "\\\\%03o", (index(h, substr($0, i, 1)) - 1) * 16 + index(h, substr($0, i + 1, 1)) - 1 }')"
}
falha() { echo "$1: NÃO CONFERE"; exit 1; }
# O elo de uma linha «lugar folhas momento id raiz sobre», em cima do anterior.
ligar() {
  IFS=' ' read -r lugar folhas em id dela sobre <<FIM
$1
FIM
  elo=$(printf 'nfse-auditoria-1\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n' "$lugar" "$elo" "$dela" "$folhas" "$em" "$id" "$sobre" | sha256sum)
  elo=\${elo%% *}
}
# Os elos de uma corrente, que tem de acabar no selo: o seu lugar e o seu resumo.
elos() {
  elo= fim=
  while IFS= read -r linha; do
    valor=\${linha#*=}
    case $linha in
      anterior=*) elo=$valor;;
      elo=*) ligar "$valor"; echo "$lugar $elo";;
      selo=*) grep -qF "\\"elo\\":\\"$elo\\"" "$valor" && fim=sim;;
    esac
  done < "$1"
  [ -n "$fim" ] && echo "chega ao selo"
}
passa=
for corrente in $(ls | grep '^corrente-.*[.]txt$'); do
  passa="$passa
$(elos "$corrente" | sed "s/^/$corrente /")"
  printf '%s\\n' "$passa" | grep -qxF "$corrente chega ao selo" || falha "$corrente"
done
for prova in $(ls | grep '^prova-.*[.]txt$'); do
  no= elo= raiz= sal= antes= selada=', ainda sem selo'
  while IFS= read -r linha; do
    nome=\${linha%%=*} valor=\${linha#*=}
    case $nome in
      texto) dito=$(resumo < "$valor");;
      sal) sal=$valor;;
      item) no=$({ printf '\\000'; octetos "$sal"; octetos "$dito"; printf %s "$valor"; } | resumo);;
      antes) antes=$valor;;
      depois) no=$({ printf '\\001'; octetos "$antes"; octetos "$no"; octetos "$valor"; } | resumo);;
      raiz) [ "$no" = "$valor" ] || falha "$prova"; raiz=$valor;;
      anterior) elo=$valor;;
      elo) ligar "$valor"; [ "$raiz" = "$dela" ] || falha "$prova"; raiz=;;
      corrente) printf '%s\\n' "$passa" | grep -qxF "$valor $lugar $elo" || falha "$prova"; selada=;;
      *) falha "$prova";;
    esac
  done < "$prova"
  [ -n "$elo" ] && [ -z "$raiz" ] || falha "$prova"
  echo "$prova: confere$selada"
done
echo TODAS AS PROVAS CONFEREM
`;

const TRAZ: ArquivoDoConjunto = {
  nome: `${PASTA}/traz.sh`,
  oQue: 'Diz se uma dessas linhas traz um arquivo deste conjunto, inteiro ou pelo seu resumo: leia-o antes.',
  conteudo: Buffer.from(`#!/bin/sh
# Diz se uma linha da corrente traz um arquivo: o SHA-256 dele, ou o texto inteiro, como o JSON o escreve entre aspas.
# Uso: sh traz.sh LINHA ARQUIVO
set -eu
resumo=$(sha256sum < "$2" | cut -c1-64)
texto=$(sed -e 's/[\\\\"]/\\\\&/g' -e 's/\\t/\\\\t/g' -e 's/\\r/\\\\r/g' "$2" | sed -e ':a' -e 'N' -e '$!ba' -e 's/\\n/\\\\n/g')
if grep -qF -- "\\"$resumo\\"" "$1" || grep -qF -- "\\"$texto\\"" "$1"; then
  echo "$2: CONFERE"
else
  echo "$2: NÃO CONFERE"
  exit 1
fi
`),
};
