/** Facts from the code for the pages on tokens, lists, changes, webhooks and personal sandboxes. Each is Markdown. */

import { ESPERA_MAX_S } from '../../base/http/espera.ts';
import { EXCESS_KEPT } from '../../base/http/quotas.ts';
import { ENSAIO_DIAS } from '../../base/world/relogio.ts';
import { ESCOPOS } from '../../base/world/token.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { groupDigits } from '../../fiscal/group-digits.ts';
import { MUDANCAS, MUDANCAS_GUARDA_DIAS } from '../../fiscal/mudanca.ts';
import { code, joinItems, nameTable, table } from '../../published/markdown.ts';
import type { Facts } from '../../published/site/facts.ts';
import {
  AVISO_CONFIRMAR_POR_MINUTO,
  AVISO_CONFIRMAR_S,
  AVISO_GUARDA_DIAS,
  AVISO_PARADO_MAX_S,
  AVISO_RESPOSTA_S,
  AVISO_SIMULTANEOS,
  AVISO_TENTATIVAS_S,
} from '../../subjects/avisos/tempos.ts';
import {
  ENSAIOS_POR_MINUTO,
  SEGREDO_ANTERIOR_HORAS,
  WEBHOOKS_MAX,
  WEBHOOKS_POR_RAIZ,
} from '../../subjects/avisos/webhooks.ts';
import { IMPORT_QUOTA_COST } from '../../subjects/ensaios/ambientes.rest.ts';
import { CADASTROS_DO_AMBIENTE, ENSAIOS_DA_REDE } from '../../subjects/ensaios/ambientes.ts';
import { listPersonas } from '../../subjects/ensaios/personas.ts';
import { GUARDADO_BYTES, KEPT_BYTES, REQUISICOES_GUARDADAS } from '../../subjects/ensaios/requisicoes.ts';
import { LIMITE_MAX, LIMITE_USUAL, LISTA_PARAMS, MUDANCAS_MAX } from '../../subjects/partes/listas.rest.ts';
import { CONTADAS_MAX } from '../../subjects/partes/notas.ts';
import {
  PEDIDO_MAX_MINUTES,
  TOKEN_SIGNATURE_HEADER,
  TOKENS_POR_DOCUMENTO,
  VALIDADE_DIAS_MAX,
  VALIDADE_DIAS_USUAL,
} from '../../subjects/partes/tokens.ts';

export const PARTE_FACTS: Facts = {
  'ensaio-dias': () => String(ENSAIO_DIAS),
  'ensaios-da-rede': () => String(ENSAIOS_DA_REDE),
  'requisicoes-guardadas': () => String(REQUISICOES_GUARDADAS),
  'requisicao-guardada': () => `${KEPT_BYTES / 2 ** 10} KiB`,
  'requisicoes-guardado': () => `${GUARDADO_BYTES / 2 ** 20} MiB`,
  'excessos-guardados': () => String(EXCESS_KEPT),
  'documentos-por-arquivo': () => String(IMPORT_QUOTA_COST),
  'cadastros-do-ambiente': () => joinItems(CADASTROS_DO_AMBIENTE.map(code)),
  'tabela-personas': () =>
    table(
      ['Persona', 'Cenários'],
      listPersonas().map(({ id, titulo, cenarios }) => [
        `${code(id)}: ${titulo}`,
        cenarios
          .map((one) => `${code(one.id)}${one.substituta ? ' (substituta e evento)' : one.evento ? ' (evento)' : ''}`)
          .join(', '),
      ]),
    ),
  'cabecalho-assinatura-token': () => code(TOKEN_SIGNATURE_HEADER),
  'tabela-escopos': () => nameTable(['Escopo', 'Para que serve'], ESCOPOS),
  'token-validade': () => `${VALIDADE_DIAS_USUAL} dias`,
  'token-validade-maxima': () => `${VALIDADE_DIAS_MAX} dias`,
  'token-pedido': () => `${PEDIDO_MAX_MINUTES} minutos`,
  'token-por-documento': () => String(TOKENS_POR_DOCUMENTO),
  'tabela-filtros-notas': () => nameTable(['Parâmetro', 'O que escolhe'], LISTA_PARAMS),
  'lista-pagina': () => `de 1 a ${LIMITE_MAX}, ${LIMITE_USUAL} quando não se diz`,
  'lista-contadas': () => groupDigits(CONTADAS_MAX),
  'mudancas-guarda': () => `${MUDANCAS_GUARDA_DIAS} dias`,
  'mudancas-guarda-ensaio': () => `${AMBIENTES.homologacao.guardaDias} dias`,
  'mudancas-por-resposta': () => groupDigits(MUDANCAS_MAX),
  'espera-maxima': () => `${ESPERA_MAX_S} segundos`,
  'tabela-mudancas': () =>
    table(
      ['Tipo', 'O que significa'],
      MUDANCAS.map(({ tipo, significado }) => [code(tipo), significado]),
    ),
  'avisos-por-documento': () => String(WEBHOOKS_MAX),
  'avisos-por-raiz': () => String(WEBHOOKS_POR_RAIZ),
  'avisos-ensaios': () => String(ENSAIOS_POR_MINUTO),
  'avisos-resposta': () => `${AVISO_RESPOSTA_S} segundos`,
  'avisos-tentativas': () => joinItems(AVISO_TENTATIVAS_S.map(inWords)),
  'avisos-confirmar': () => joinItems(AVISO_CONFIRMAR_S.map(inWords)),
  'avisos-confirmar-por-minuto': () => String(AVISO_CONFIRMAR_POR_MINUTO),
  'avisos-simultaneos': () => String(AVISO_SIMULTANEOS),
  'avisos-tentar': () => `${AVISO_GUARDA_DIAS.tentar} dias`,
  'avisos-mostrar': () => `${AVISO_GUARDA_DIAS.mostrar} dias`,
  'avisos-parado': () => inWords(AVISO_PARADO_MAX_S),
  'avisos-segredo': () => `${SEGREDO_ANTERIOR_HORAS} horas`,
};

/** `5 segundos`, `1 minuto`, `2 horas` */
function inWords(seconds: number): string {
  const [count, one, many] =
    seconds < 60
      ? [seconds, 'segundo', 'segundos']
      : seconds < 3_600
        ? [seconds / 60, 'minuto', 'minutos']
        : [seconds / 3_600, 'hora', 'horas'];
  return `${count} ${count === 1 ? one : many}`;
}
