/** Warnings for the operator of every municipality about the rates of the IBS and the CBS: shown, logged, and counted. */
import { percentualEmPalavras, semAliquota } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { BRASILIA, brazilianDate, momentIn } from '../../fiscal/moment.ts';
import type { Via } from '../book/atos.ts';
import type { World } from './world.ts';

/** Missing rows of the table of rates, for a competence that has begun, or begins within sixty days. The day is the one in Brasília. */
export async function avisosDeAliquotas(
  { store, now }: Pick<World, 'store' | 'now'>,
  via: Via = 'comando',
): Promise<readonly string[]> {
  // The pages tell the command once, beside the remarks.
  const how = via === 'painel' ? '' : ' (nfse aliquotas importar ARQUIVO)';
  const hoje = momentIn(BRASILIA, now()).date;
  return semAliquota(await store.aliquotas.readTabela(), hoje).map(({ tributo, desde }) => {
    const percentual = percentualEmPalavras(tributo);
    const [what, notas] =
      percentual === undefined
        ? ['alíquota', 'as notas com o grupo IBSCBS']
        : ['percentual', 'as notas de compras governamentais (tpEnteGov)'];
    const artigo = percentual === undefined ? 'a' : 'o';
    return `${tributo} sem ${what} na tabela desde a competência ${brazilianDate(desde)}: ${notas} são emitidas e ficam retidas, sem ir ao ADN, até ${artigo} ${what} ser importad${artigo}${how}.`;
  });
}
