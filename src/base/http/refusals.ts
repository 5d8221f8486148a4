/** Refusals of the door itself, with texts for the sender. A status that differs from the usual one of its code is given here. */

import { ENSAIO_PREFIX } from '../../fiscal/ambiente.ts';
import { parseDpsId, whyNoChave } from '../../fiscal/chave.ts';
import type { Fault } from '../../fiscal/fault.ts';
import { cutText } from '../../fiscal/fault.ts';
import { BODY_MAX_BYTES, BODY_MAX_TEXT, HEADERS_MAX_TEXT } from '../../published/http-limits.ts';
import type { Municipio } from '../book/municipios.ts';
import { ENSAIO_DIAS } from '../world/relogio.ts';
import type { StoreTrouble } from '../world/store-trouble.ts';
import type { Misfit } from './content.ts';
import type { Trouble } from './message.ts';
import type { Excess } from './misses.ts';
import { writeExcess } from './rate-limit.ts';
import type { Refused } from './route.ts';

/** Longest part of an unknown slug that the message repeats. */
const SLUG_SHOWN_MAX = 63;

export function refuseUnknownMunicipio(slug: string): Refused {
  const shown = cutText(slug, SLUG_SHOWN_MAX);
  const hint =
    slug.toLowerCase() === 'soap' ? ` ${SOAP_HINT}` : slug.startsWith(ENSAIO_PREFIX) ? ` ${ENSAIO_HINT}` : '';
  const mensagem = `O endereço começa pelo município, e "${shown}" não é nenhum dos atendidos. O ambiente de integração responde em /integracao.${hint}`;
  return refusalOf({ codigo: 'E601', xpath: '', mensagem, encontrado: shown }, { campo: 'municipio' });
}

export function refuseUnknownCodigo(): Refused {
  const mensagem = 'Este código não está na tabela de erros. A tabela inteira está em /docs/erros.';
  return refuseWith('E601', mensagem, { campo: 'codigo' });
}

export function refuseMisfit({ fault, campo }: Misfit): Refused {
  return refusalOf(fault, { campo });
}

export function refuseTooManyMisses({ waitS, cota }: Excess): Refused {
  const mensagem = `Houve perguntas demais, deste endereço de rede, pelo que não existe ou não se mostra a quem pergunta; uma validação sem a assinatura do prestador é uma delas. O que existe continua a ser respondido. Espere ${waitS} s e confira os identificadores, ou assine.`;
  return refuseWith('E703', mensagem, { status: 429, headers: writeExcess(cota, waitS) });
}

/** The sentence of both doors for a temporary failure. */
export function sayUnavailable(reason: string, waitS: number): string {
  return `O serviço não pode atender agora. ${reason} Envie de novo em ${waitS} s.`;
}

export function refuseUnavailable(reason: string, waitS: number): Refused {
  const mensagem = sayUnavailable(reason, waitS);
  return refuseWith('E703', mensagem, { status: 503, headers: { 'Retry-After': String(waitS) } });
}

export function refuseForStore({ mensagem, esperaS }: StoreTrouble): Refused {
  return refuseUnavailable(mensagem, esperaS);
}

/** `mensagem`: the reason for the long processor time, and the remedy. */
export function refuseTooDear(mensagem: string): Refused {
  return refuseWith('E003', mensagem, { status: 413 });
}

/** A bug appears in the answer only through the id of the request. */
export function refuseAfterBug(requestId: string): Refused {
  const mensagem = 'O serviço falhou ao processar a requisição. O erro está registrado.';
  const detalhes = `Se a mesma requisição falhar de novo, informe ao suporte o X-Request-Id ${requestId}.`;
  return refusalOf({ codigo: 'E999', xpath: '', mensagem, detalhes }, {});
}

/** `allow`: the methods of the path. `url`: the requested address, if similar ones may exist; `nearby`: those addresses. */
export function refuseTrouble(
  trouble: Trouble,
  allow: string | undefined,
  url = '',
  nearby: readonly string[] = [],
): Refused {
  const { codigo = 'E003', status, mensagem: said } = TROUBLES[trouble];
  const hint = hintOf(url, nearby);
  if (allow === undefined) return refuseWith(codigo, said + hint, { status });
  const withMethods = `${said} Métodos deste endereço: ${allow}.${hint}`;
  return refusalOf(
    { codigo, xpath: '', mensagem: withMethods, esperado: allow },
    { status, headers: { Allow: allow } },
  );
}

/** `bytes`: the size of the file. */
export function refuseRange(bytes: number): Refused {
  const mensagem = `A faixa pedida em Range começa depois do fim do arquivo, que tem ${bytes} bytes. Sem Range ele vem inteiro.`;
  const fault = { codigo: 'E003', xpath: '', mensagem };
  return refusalOf(fault, { status: 416, headers: { 'Content-Range': `bytes */${bytes}` }, campo: 'Range' });
}

function hintOf(url: string, nearby: readonly string[]): string {
  if (OF_NATIONAL_API.test(url)) return ` ${NATIONAL_HINT}`;
  if (EVENTOS_POR_PROTOCOLO.test(url)) return ` ${EVENTOS_PELA_CHAVE}`;
  if (SOAP.test(url)) return ` ${SOAP_HINT}`;
  return nearby.length === 0 ? '' : ` O que existe perto: ${nearby.join(', ')}.`;
}

/** Addresses of the national API, with or without a municipality in front. */
const OF_NATIONAL_API =
  /^\/(?:[^/]+\/)?(?:sefinnacional(?:\/|$)|(?:nfse|dps)(?:\/|[?]|$)|adn\/|contribuintes\/|municipios\/DFe|danfse\/|parametrizacao\/|decisao-judicial)/i;
const NATIONAL_HINT =
  'O contrato da API nacional está em /{municipio}/SefinNacional: POST nfse, GET nfse/{chave_acesso}, GET e HEAD dps/{id}, POST e GET nfse/{chave_acesso}/eventos; ao lado dele, /{municipio}/parametrizacao e /{municipio}/danfse; /docs/nacional diz o que cada um faz.';
/** Addresses with the protocol number in place of the key; only registration has such an address. */
const EVENTOS_POR_PROTOCOLO = /^\/[^/]+\/api\/v1\/nfse\/(?:v101\/)?protocolo\/[^/]+\/eventos(?:[/?]|$)/;
const EVENTOS_PELA_CHAVE =
  'Pelo número de protocolo os eventos se registram, com POST …/nfse/protocolo/{numero_protocolo}/eventos. Consultam-se pela chave de acesso, que GET …/nfse/protocolo/{numero_protocolo} diz: GET …/nfse/{chave_acesso}/eventos, …/eventos/{tipo_evento} e …/eventos/{tipo_evento}/{num_seq_evento}.';

/** Addresses similar to that of the legacy port. */
const SOAP = /^\/[^/]+\/soap(?:[/?]|$)/i;
/** Hint for a sandbox that no longer exists, or never did. */
const ENSAIO_HINT = `Um ambiente só seu some depois de ${ENSAIO_DIAS} dias, ou quando o dono o joga fora: confira as letras, ou faça outro com POST /integracao/api/v1/ambientes.`;

export const SOAP_HINT =
  'O serviço SOAP fica em /{municipio}/soap/nfes, e a descrição dele em /{municipio}/soap/nfes?wsdl.';

const TROUBLES: Readonly<Record<Trouble, { codigo?: string; status: number; mensagem: string }>> = {
  unknown_path: {
    codigo: 'E601',
    status: 404,
    mensagem:
      'Não há nada neste caminho. Os caminhos de um município começam por /{municipio}/api/v1; todos estão em /docs/api.',
  },
  method_not_allowed: { status: 405, mensagem: 'Este endereço não atende o método usado.' },
  bad_url: {
    status: 400,
    mensagem:
      'O endereço traz uma sequência com % que não se decodifica. Em endereços, % vem seguido de dois hexadecimais.',
  },
  url_too_long: {
    status: 414,
    mensagem: 'O endereço é longo demais para qualquer recurso deste serviço.',
  },
  no_host: { status: 400, mensagem: 'Falta o cabeçalho Host, obrigatório em HTTP/1.1.' },
  many_hosts: {
    status: 400,
    mensagem: 'A requisição traz o cabeçalho Host mais de uma vez. Envie um só, com o endereço deste serviço.',
  },
  many_types: {
    status: 400,
    mensagem: 'A requisição traz o cabeçalho Content-Type mais de uma vez. Envie um só, com o tipo do corpo.',
  },
  expectation: { status: 417, mensagem: 'No cabeçalho Expect o serviço só atende 100-continue.' },
  headers_too_large: {
    status: 431,
    mensagem: `Os cabeçalhos da requisição passam de ${HEADERS_MAX_TEXT}. Envie menos cabeçalhos, ou menores.`,
  },
  body_too_large: {
    status: 413,
    mensagem: `O corpo passa do limite de ${BODY_MAX_TEXT} (${BODY_MAX_BYTES} bytes).`,
  },
  malformed: { status: 400, mensagem: 'O que chegou não é uma requisição HTTP/1.1 bem-formada.' },
  timeout: {
    status: 408,
    mensagem: 'A requisição não chegou inteira no tempo de espera. Envie de novo.',
  },
  // Only the log shows this status; other servers use 499 there.
  gone: { status: 499, mensagem: 'A conexão foi fechada antes de o corpo chegar inteiro.' },
};

function refusalOf(fault: Fault, more: Omit<Refused, 'refusal'>): Refused {
  return { refusal: { faults: [fault] }, ...more };
}

export function refuseWith(codigo: string, mensagem: string, more: Omit<Refused, 'refusal'>): Refused {
  return refusalOf({ codigo, xpath: '', mensagem }, more);
}

export function refuseMissingNota(chave: string): Refused {
  return refuseWith('E301', describeMissingChave(chave), { campo: 'chave_acesso' });
}

export function refuseMissingProtocolo({ tenant }: Municipio): Refused {
  const mensagem = `Não há nota com este número de protocolo em ${tenant}. Confira o número e o município do endereço.`;
  return refuseWith('E601', mensagem, { campo: 'numero_protocolo' });
}

export function refuseMissingToken(): Refused {
  const mensagem =
    'Este documento não tem token com este id neste município. Os que ele tem se listam com POST …/api/v1/token/lista.';
  return refuseWith('E601', mensagem, { campo: 'id' });
}

/** `isMaking`: the request was for a new one. */
export function refuseNoAmbiente(isMaking: boolean): Refused {
  const mensagem = isMaking
    ? 'Um ambiente próprio se pede em /integracao/api/v1/ambientes, e em nenhum outro município.'
    : 'Este município não é um ambiente próprio. Um se faz com POST /integracao/api/v1/ambientes.';
  return refuseWith('E601', mensagem, { campo: 'municipio' });
}

export function refuseMissingRequisicao(): Refused {
  const mensagem =
    'Este ambiente não guarda requisição com este id. Guarda as últimas, que se listam com GET …/api/v1/ambiente/requisicoes.';
  return refuseWith('E601', mensagem, { campo: 'id_requisicao' });
}

export function refuseMissingCenario(): Refused {
  const mensagem = 'Não há cenário com este nome. Os que há se listam com GET …/api/v1/ambiente/personas.';
  return refuseWith('E601', mensagem, { campo: 'cenario' });
}

export function refuseMissingWebhook(): Refused {
  const mensagem =
    'Este documento não tem endereço de aviso com este id neste município. Os que ele tem se listam com GET …/api/v1/webhooks.';
  return refuseWith('E601', mensagem, { campo: 'id_webhook' });
}

export function refuseMissingExportacao(): Refused {
  const mensagem =
    'Este documento não tem exportação com este id neste município, ou ela já passou do prazo. As que ele tem se listam com GET …/api/v1/exportacoes.';
  return refuseWith('E601', mensagem, { campo: 'id_exportacao' });
}

/** `motivo`: reason of its failure; undefined: the export is in progress. */
export function refuseWithoutArquivo(motivo: string | undefined): Refused {
  if (motivo !== undefined) {
    return refuseWith('E601', `Esta exportação terminou sem arquivo. ${motivo}`, { campo: 'id_exportacao' });
  }
  const mensagem =
    'O arquivo desta exportação ainda não está pronto. Consulte-a (GET …/api/v1/exportacoes/{id_exportacao}) até que pronta seja true.';
  return refuseWith('E703', mensagem, { campo: 'id_exportacao', status: 409, headers: { 'Retry-After': '5' } });
}

export function refuseMissingDps(id: string): Refused {
  const mensagem =
    parseDpsId(id) === undefined
      ? 'O texto enviado não é um identificador de DPS. Ele tem 45 posições: as letras DPS, o município emissor (7), o tipo de inscrição (1 CPF, 2 CNPJ), a inscrição com zeros à esquerda (14), a série (5) e o número (15).'
      : 'Não há nota desta DPS neste município. Confira o município, a inscrição, a série e o número do identificador.';
  return refuseWith('E601', mensagem, { campo: 'id' });
}

/** A shorter text without a number is a word: its sender confused this address with another one. */
const CHAVE_WORD_MAX = 20;

/** Reason why no note has a key, as far as the key itself shows it. */
function describeMissingChave(chave: string): string {
  if (chave.length < CHAVE_WORD_MAX && !/\d{3}/.test(chave)) {
    return 'Neste endereço vai a chave de acesso, de 50 posições. A emissão é POST /{municipio}/api/v1/nfse/v101.';
  }
  return (
    whyNoChave(chave) ??
    'Não há nota com esta chave de acesso neste município. Confira o município do endereço e o ambiente.'
  );
}
