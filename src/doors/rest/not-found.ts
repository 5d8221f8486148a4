/** What is answered about a key, a protocol number or an identifier of a DPS that names no note. */
import { parseDpsId, whyNoChave } from '../../fiscal/chave.ts';
import type { Municipio } from '../../flows/queries.ts';
import type { Refused } from './answers.ts';

export function refuseMissingNota(chave: string): Refused {
  return refuseMissing('E301', 'chave_acesso', describeMissingChave(chave));
}

export function refuseMissingProtocolo({ tenant }: Municipio): Refused {
  const mensagem = `Não há nota com este número de protocolo em ${tenant}. Confira o número e o município do endereço.`;
  return refuseMissing('E601', 'numero_protocolo', mensagem);
}

export function refuseMissingDps(id: string): Refused {
  const mensagem =
    parseDpsId(id) === undefined
      ? 'O texto enviado não é um identificador de DPS. Ele tem 45 posições: as letras DPS, o município emissor (7), o tipo de inscrição (1 CPF, 2 CNPJ), a inscrição com zeros à esquerda (14), a série (5) e o número (15).'
      : 'Não há nota desta DPS neste município. Confira o município, a inscrição, a série e o número do identificador.';
  return refuseMissing('E601', 'id', mensagem);
}

/** A shorter text without a number is a word: its sender took this address for another one. */
const CHAVE_WORD_MAX = 20;

/** Why a key finds nothing, as far as the key itself shows. */
function describeMissingChave(chave: string): string {
  if (chave.length < CHAVE_WORD_MAX && !/\d{3}/.test(chave)) {
    return 'Neste endereço vai a chave de acesso, de 50 posições. A emissão é POST /{municipio}/api/v1/nfse/v101.';
  }
  return (
    whyNoChave(chave) ??
    'Não há nota com esta chave de acesso neste município. Confira o município do endereço e o ambiente.'
  );
}

function refuseMissing(codigo: string, campo: string, mensagem: string): Refused {
  return { refusal: { faults: [{ codigo, xpath: '', mensagem }] }, campo };
}
