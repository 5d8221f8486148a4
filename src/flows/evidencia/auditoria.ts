/**
 * The proof that rows of a note stand in the audit chain of the municipality, and the chain up to a seal that it has signed: as small text
 * files, and a short script of `sha256sum` that reckons them again.
 */
import type { Prova } from '../../store/auditoria.ts';
import type { Municipio } from '../../store/municipios.ts';
import type { World } from '../world.ts';
import type { ArquivoDoConjunto, Parte } from './partes.ts';
import { gatherRecebido } from './recebido.ts';

/** A row as the chain knows it, and what it is. */
export type LinhaProvada = {
  readonly tabela: Prova['tabela'];
  readonly chave: readonly string[];
  readonly oQue: string;
};

const PASTA = '6-trilha/auditoria';

export async function gatherAuditoria(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  linhas: readonly LinhaProvada[],
): Promise<Parte> {
  const { tenant } = municipio;
  const provas: { readonly linha: LinhaProvada; readonly prova: Prova }[] = [];
  for (const linha of linhas) {
    const prova = await world.store.auditoria.proofOf(tenant, linha.tabela, linha.chave);
    if (prova !== undefined) provas.push({ linha, prova });
  }
  const titulo = 'A prova de que nada disso foi mudado depois';
  if (provas.length === 0) return { titulo, paragrafos: [NONE], arquivos: [], conferencias: [] };
  const selos = new Map(provas.flatMap(({ prova: { selo } }) => (selo === undefined ? [] : [[selo.dia, selo]])));
  const sealed: Omit<Parte, 'titulo'>[] = [];
  for (const selo of selos.values()) sealed.push(await gatherSelo(world, municipio, selo));
  const check = {
    oQue: 'Cada linha provada está na corrente, e a corrente chega ao selo onde há um',
    comando: `bash ${PASTA}/conferir.sh ${PASTA}`,
    resposta: 'TODAS AS PROVAS CONFEREM',
  };
  return {
    titulo,
    paragrafos: [CHAIN, selos.size === 0 ? UNSEALED : SEALED, ...sealed.flatMap(({ paragrafos }) => paragrafos)],
    arquivos: [
      {
        nome: `${PASTA}/conferir.sh`,
        conteudo: Buffer.from(SCRIPT),
        oQue: 'Refaz as provas com sha256sum: leia-o antes.',
      },
      ...provas.flatMap(({ linha, prova }, place) => filesOf(linha, prova, place + 1)),
      ...sealed.flatMap(({ arquivos }) => arquivos),
    ],
    conferencias: [check, ...sealed.flatMap(({ conferencias }) => conferencias)],
  };
}

/** A seal is a JSON with its signature beside it, as what is received is. */
function gatherSelo(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  { dia, texto, assinatura }: NonNullable<Prova['selo']>,
): Promise<Omit<Parte, 'titulo'>> {
  return gatherRecebido(world, municipio, {
    ...{ pasta: `${PASTA}/selo-${dia}`, nome: 'selo', oQue: `O selo de ${dia}: até onde ia a corrente.` },
    ...{ bytes: Buffer.from(texto), assinatura: assinatura.toString('base64'), confianca: null },
    at: Date.parse((JSON.parse(texto) as { readonly em: string }).em),
  });
}

const NONE =
  'Nada desta nota está ainda na corrente de auditoria do município: ou é de antes dela, ou acaba de ser gravado. Peça o conjunto outra vez daqui a um minuto.';
const CHAIN =
  'O que o serviço grava entra numa corrente: cada elo traz o resumo do anterior, de modo que nada se muda, tira ou põe no meio sem que os seguintes deixem de conferir. Cada prova é uma linha gravada, as que entraram com ela, só pelo resumo, o elo em que entraram, e os elos até o selo do dia.';
const SEALED = 'O selo é assinado pelo município: a corrente até ele não pode ter sido refeita depois desse dia.';
const UNSEALED =
  'Nenhum selo foi feito desde então, ou o município não tem certificado: as provas mostram que as linhas estão na corrente, e não de quando ela é.';

/** A proof as lines that the script reads, in the order in which they are reckoned. */
function filesOf({ oQue }: LinhaProvada, prova: Prova, place: number): readonly ArquivoDoConjunto[] {
  const { texto, sal, item, antes, depois, anterior, entrada, elos, selo } = prova;
  const name = String(place).padStart(3, '0');
  const lines = [
    `texto=linha-${name}.txt`,
    `sal=${sal}`,
    `item=${item}`,
    `antes=${antes}`,
    `depois=${depois}`,
    `raiz=${entrada.raiz}`,
    `anterior=${anterior}`,
    ...[entrada, ...elos].map((elo) => `elo=${[elo.lugar, elo.folhas, elo.em, elo.id, elo.raiz, elo.sobre].join(' ')}`),
    ...(selo === undefined ? [] : [`selo=selo-${selo.dia}/selo.json`]),
  ];
  return [
    { nome: `${PASTA}/linha-${name}.txt`, conteudo: Buffer.from(texto), oQue: `${oQue}, como a corrente a conhece.` },
    {
      nome: `${PASTA}/prova-${name}.txt`,
      conteudo: Buffer.from(`${lines.join('\n')}\n`),
      oQue: 'O que leva dela ao elo em que entrou, e os elos.',
    },
  ];
}

/** Nothing but `sha256sum` and the shell. */
const SCRIPT = `#!/bin/bash
# Refaz cada prova só com sha256sum. Uso: bash conferir.sh PASTA
set -eu
cd "$1"
resumo() { sha256sum | cut -c1-64; }
octetos() { printf "$(printf %s "$1" | sed 's/../\\\\x&/g')"; }
falha() { echo "$1: NÃO CONFERE"; exit 1; }
for prova in prova-*.txt; do
  no= elo= raiz=
  while IFS= read -r linha; do
    nome=\${linha%%=*} valor=\${linha#*=}
    case $nome in
      texto) dito=$(resumo < "$valor");;
      sal) sal=$valor;;
      item) no=$({ printf '\\0'; octetos "$sal"; octetos "$dito"; printf %s "$valor"; } | resumo);;
      antes) antes=$valor;;
      depois) no=$({ printf '\\1'; octetos "$antes"; octetos "$no"; octetos "$valor"; } | resumo);;
      raiz) [ "$no" = "$valor" ] || falha "$prova"; raiz=$valor;;
      anterior) elo=$valor;;
      elo)
        IFS=' ' read -r lugar folhas em id dela sobre <<< "$valor"
        [ -z "$raiz" ] || [ "$raiz" = "$dela" ] || falha "$prova"
        raiz=
        elo=$(printf 'nfse-auditoria-1\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n%s\\n' "$lugar" "$elo" "$dela" "$folhas" "$em" "$id" "$sobre" | resumo);;
      selo) grep -q "$elo" "$valor" || falha "$prova";;
      *) falha "$prova";;
    esac
  done < "$prova"
  [ -n "$elo" ] && [ -z "$raiz" ] || falha "$prova"
  echo "$prova: confere"
done
echo TODAS AS PROVAS CONFEREM
`;
