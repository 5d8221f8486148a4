/** Envelopes of the legacy port: the parts around a document, their demands on a reader, and a signed lot inside. */
import { SignedXml } from 'xml-crypto';
import { ABRASF, envelope, escaped, loteXml, porProtocolo } from '../../support/rps.ts';
import { ENVELOPED, EXCLUSIVE, type Party, RSA_SHA256, SHA256 } from '../../support/signatures.ts';
import type { Ataque, Corpus, Entrada, Parte } from '../ataque.ts';
import { aceita, caso, recusa } from './caso.ts';
import { makeMundo } from './mundo.ts';

const porto = (corpo: Parte, tipo = 'text/xml; charset=utf-8', integracao = true): Entrada => ({
  para: 'porto',
  ...(integracao ? { integracao } : {}),
  tipo,
  cabecalhos: { SOAPAction: '""' },
  corpo,
});
const falha = (quer: string, diz?: string, status = 500) => recusa('', quer, diz, status);
const ILEGIVEL = 'Recusar o documento com E160, e responder ao envelope.';

const consulta = porProtocolo('ConsultarSituacaoLoteRpsEnvio', '123');
const operacao = (inside: string, name = 'ConsultarSituacaoLoteRps'): string =>
  `<n:${name} xmlns:n="${ABRASF}">${inside}</n:${name}>`;
const HONESTO = operacao(`<parameters>${escaped(consulta)}</parameters>`);
const dentro = (document: string): Entrada =>
  porto(envelope(operacao(`<parameters><![CDATA[${document}]]></parameters>`)));
const comCabecalho = (header: string): Entrada =>
  porto(envelope(HONESTO).replace('<e:Body>', `<e:Header>${header}</e:Header><e:Body>`));

function envelopes(): Ataque[] {
  return [
    caso(
      'entidades-no-envelope',
      'Entidades que se multiplicam, no envelope.',
      porto(
        `<!DOCTYPE e [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${envelope(operacao('<parameters>&b;</parameters>'))}`,
      ),
      falha('Recusar todo DOCTYPE.', 'DOCTYPE'),
    ),
    caso(
      'entidade-externa-no-envelope',
      'Um arquivo do servidor no envelope (XXE).',
      porto(
        `<!DOCTYPE e [<!ENTITY x SYSTEM "file:///etc/passwd">]>${envelope(operacao('<parameters>&x;</parameters>'))}`,
      ),
      falha('Recusar todo DOCTYPE, sem abrir arquivo.', 'DOCTYPE'),
    ),
    caso(
      'entidades-no-documento',
      'As mesmas entidades no documento que vem como texto, que outro leitor lê.',
      dentro(`<!DOCTYPE a [<!ENTITY b "c">]>${consulta}`),
      recusa('E160', ILEGIVEL, 'DOCTYPE', 200),
    ),
    caso(
      'versao-1-1-no-documento',
      'XML 1.1 no documento de dentro, com outros fins de linha.',
      dentro(`<?xml version="1.1"?>${consulta}`),
      recusa('E160', ILEGIVEL, 'só se lê XML 1.0', 200),
    ),
    caso(
      'versao-1-1-no-envelope',
      'XML 1.1 no envelope.',
      porto(`<?xml version="1.1"?>${envelope(HONESTO)}`),
      falha('Recusar: só XML 1.0.', 'só se lê XML 1.0'),
    ),
    caso(
      'marca-contra-declaracao',
      'A marca diz UTF-8 e a declaração, UTF-16.',
      porto([{ hex: 'efbbbf' }, `<?xml version="1.0" encoding="UTF-16"?>${envelope(HONESTO)}`]),
      falha('Recusar: dois leitores não leriam os mesmos caracteres.', 'a declaração diz encoding'),
    ),
    caso(
      'charset-contra-envelope',
      'O cabeçalho diz ISO-8859-1, e há letras que são UTF-8.',
      porto(
        envelope(HONESTO).replace('<e:Body>', '<e:Header><x y="é"/></e:Header><e:Body>'),
        'text/xml; charset=ISO-8859-1',
      ),
      falha('Recusar: dois leitores não leriam os mesmos caracteres.', 'charset=ISO-8859-1', 415),
    ),
    caso(
      'tipo-desconhecido',
      'Um envelope anunciado como JSON.',
      porto(envelope(HONESTO), 'application/json'),
      falha('Recusar pelo cabeçalho.', undefined, 415),
    ),
    caso(
      'anexos',
      'Um envelope com anexos (MTOM): o documento estaria em outra parte.',
      porto(envelope(HONESTO), 'multipart/related; type="application/xop+xml"'),
      falha('Recusar pelo cabeçalho.', undefined, 415),
    ),
    caso(
      'anexo-por-referencia',
      'xop:Include manda buscar o documento num arquivo.',
      porto(
        envelope(
          operacao(
            '<parameters><xop:Include xmlns:xop="http://www.w3.org/2004/08/xop/include" href="file:///etc/passwd"/></parameters>',
          ),
        ),
      ),
      recusa('E160', 'Recusar o documento, sem abrir arquivo.', undefined, 200),
    ),
    caso(
      'referencia-dentro-do-envelope',
      'href="#1" manda ler o documento de outro lugar do envelope, que a assinatura não cobre.',
      porto(envelope(`${operacao('<parameters href="#1"/>')}<multiRef id="1">${consulta}</multiRef>`)),
      falha('Recusar: o Body tem um elemento só.', 'O Body deve ter um elemento'),
    ),
    caso(
      'dois-corpos',
      'Dois Body: quem confere lê um, quem executa lê o outro.',
      porto(envelope(HONESTO).replace('</e:Envelope>', `<e:Body>${HONESTO}</e:Body></e:Envelope>`)),
      falha('Recusar: um envelope tem um Body.', 'um Body'),
    ),
    caso(
      'duas-operacoes',
      'Duas operações num Body.',
      porto(envelope(HONESTO + HONESTO)),
      falha('Recusar: um Body tem uma operação.', 'O Body deve ter um elemento'),
    ),
    caso(
      'corpo-vazio',
      'Um Body sem operação.',
      porto(envelope('')),
      falha('Recusar: um Body tem uma operação.', 'O Body deve ter um elemento'),
    ),
    caso(
      'corpo-em-outro-namespace',
      'Um elemento Body que não é de SOAP, antes do que é.',
      porto(
        envelope(HONESTO).replace(
          '<e:Body>',
          `<Body xmlns="urn:x">${operacao('<parameters/>', 'CancelarNfse')}</Body><e:Body>`,
        ),
      ),
      recusa('E86', 'Ler só o Body de SOAP: esta consulta não acha o protocolo.', undefined, 200),
    ),
    caso(
      'envelope-desconhecido',
      'Um Envelope de namespace que não é de SOAP.',
      porto(envelope(HONESTO).replaceAll('http://schemas.xmlsoap.org/soap/envelope/', 'urn:soap')),
      falha('Recusar com VersionMismatch.', 'VersionMismatch'),
    ),
    caso(
      'raiz-que-nao-e-envelope',
      'O documento sem envelope.',
      porto(consulta),
      falha('Recusar: não é um envelope.', 'não é um envelope SOAP'),
    ),
    caso(
      'cabecalho-obrigatorio',
      'Um cabeçalho que pede para ser entendido, e não é: seguir sem ele é fazer outra coisa do que se pediu.',
      comCabecalho('<s:Seguranca xmlns:s="urn:s" e:mustUnderstand="1"/>'),
      falha('Recusar com MustUnderstand.', 'MustUnderstand'),
    ),
    caso(
      'resposta-a-outro-endereco',
      'WS-Addressing pede a resposta em outro endereço: o serviço como arma contra outro.',
      comCabecalho(
        '<a:ReplyTo xmlns:a="http://www.w3.org/2005/08/addressing"><a:Address>http://169.254.169.254/</a:Address></a:ReplyTo>',
      ),
      recusa('E86', 'Responder a quem perguntou, e a mais ninguém.', undefined, 200),
    ),
    caso(
      'operacao-de-outro',
      'SOAPAction nomeia uma operação e o Body, outra.',
      { ...porto(envelope(HONESTO)), cabecalhos: { SOAPAction: '"CancelarNfse"' } } as Entrada,
      recusa('E86', 'Fazer o que o Body diz.', undefined, 200),
    ),
    caso(
      'operacao-desconhecida',
      'Uma operação que não há.',
      porto(envelope(operacao('', 'ApagarTudo'))),
      falha('Recusar, dizendo as que há.', 'não existe'),
    ),
    caso(
      'envelope-dentro-do-documento',
      'Um envelope dentro do documento: quem lê de novo, lê outra operação.',
      dentro(envelope(HONESTO)),
      recusa('E160', ILEGIVEL, undefined, 200),
    ),
    caso(
      'fundo',
      'Quarenta níveis dentro da operação.',
      porto(envelope(operacao('<a>'.repeat(40) + '</a>'.repeat(40)))),
      falha('Recusar por um limite declarado.', '32 níveis'),
    ),
    caso(
      'grande-demais',
      'Um envelope de mais de um mebibyte.',
      porto([
        envelope('').split('<e:Body>')[0]!,
        '<e:Body>',
        { repete: 'x', vezes: 1_100_000 },
        '</e:Body></e:Envelope>',
      ]),
      falha('Recusar com 413 sem ler tudo.', undefined, 413),
    ),
    caso(
      'script-no-codigo',
      'Marcação no protocolo, que volta na resposta.',
      dentro(porProtocolo('ConsultarSituacaoLoteRpsEnvio', '&lt;script&gt;alert(1)&lt;/script&gt;')),
      recusa('E86', 'Escapar o que volta, ou não o devolver.', undefined, 200),
    ),
    caso(
      'consulta-honesta',
      'Uma consulta de um lote que não há: não é um ataque.',
      porto(envelope(HONESTO)),
      recusa('E86', 'Responder que não há.', undefined, 200),
    ),
  ];
}

const LOTE = `//*[local-name(.)='LoteRps']`;

function signedLote(xml: string, { keyPem, pem }: Party): string {
  const signature = new SignedXml({
    privateKey: keyPem,
    publicCert: pem,
    signatureAlgorithm: RSA_SHA256,
    canonicalizationAlgorithm: EXCLUSIVE,
  });
  signature.addReference({ xpath: LOTE, transforms: [ENVELOPED, EXCLUSIVE], digestAlgorithm: SHA256 });
  signature.computeSignature(xml, { location: { reference: LOTE, action: 'after' } });
  return signature.getSignedXml();
}

function lotes(provider: Party, namesake: Party): Ataque[] {
  const lote = signedLote(loteXml([{ numero: 1 }], { numero: '7' }), provider);
  const [element] = /<LoteRps [\s\S]*<\/LoteRps>/.exec(lote)!;
  const [signature] = /<Signature [\s\S]*<\/Signature>/.exec(lote)!;
  const enviado = (xml: string): Entrada =>
    porto(envelope(operacao(`<parameters>${escaped(xml)}</parameters>`, 'RecepcionarLoteRps')), undefined, false);
  const falso = (id = 'lote7'): string => element.replace('1000.00', '0.01').replace('Id="lote7"', `Id="${id}"`);
  const trocado = (by: string): Entrada => enviado(lote.replace(element, by));
  return [
    caso(
      'lote-sem-assinatura',
      'Um lote sem assinatura, em produção.',
      enviado(lote.replace(signature, '')),
      recusa('E1', 'Recusar: em produção só emite quem assina.', undefined, 200),
    ),
    caso(
      'lote-com-valor-trocado',
      'Um valor do lote, depois de assinado.',
      enviado(lote.replace('1000.00', '0.01')),
      recusa('E1', 'Recusar: não é o que foi assinado.', undefined, 200),
    ),
    caso(
      'lote-duas-vezes',
      'O lote assinado duas vezes no documento: qual dos dois?',
      trocado(element + element),
      recusa('E160', ILEGIVEL, undefined, 200),
    ),
    caso(
      'lote-falso-na-frente',
      'Um lote falso na frente do assinado, com o mesmo Id.',
      trocado(falso() + element),
      recusa('E160', ILEGIVEL, undefined, 200),
    ),
    caso(
      'lote-escondido',
      'O lote assinado dentro de um elemento que ninguém lê, e um falso no lugar dele.',
      trocado(`${falso('falso')}<Outro>${element}</Outro>`),
      recusa('E160', ILEGIVEL, undefined, 200),
    ),
    caso(
      'lote-em-object',
      'O lote assinado num Object da assinatura, e um falso, de outro Id, no lugar dele.',
      enviado(lote.replace(element, falso('falso')).replace('</Signature>', `<Object>${element}</Object></Signature>`)),
      recusa('E1', 'Recusar: o que se lê tem de ser o que a assinatura cobre.', undefined, 200),
    ),
    caso(
      'lote-em-object-mesmo-id',
      'O mesmo, com o mesmo Id.',
      enviado(lote.replace(element, falso()).replace('</Signature>', `<Object>${element}</Object></Signature>`)),
      recusa('E1', 'Recusar: o que se lê tem de ser o que a assinatura cobre.', undefined, 200),
    ),
    caso(
      'lote-de-outra-chave',
      'Um lote assinado por uma chave, com o certificado de outra.',
      enviado(
        signedLote(loteXml([{ numero: 1 }], { numero: '8' }), namesake).replace(namesake.base64, provider.base64),
      ),
      recusa('E1', 'Recusar: o certificado não é da chave que assinou.', undefined, 200),
    ),
    caso(
      'lote-honesto',
      'Sem um lote que se aceita nenhuma recusa prova nada.',
      enviado(lote),
      aceita('Aceitar: nada foi mudado.', 200),
    ),
  ];
}

export async function makeCorpus(): Promise<Corpus> {
  const { provider, namesake, base } = await makeMundo();
  return {
    corpus: 'soap',
    titulo: 'Envelopes SOAP',
    sobre:
      'Envelopes do serviço SOAP legado (ABRASF 1.00): o que está em volta do documento, o que ele pede de quem o lê, e um lote assinado embrulhado em outro.',
    ...base,
    partes: {},
    casos: [...envelopes(), ...lotes(provider, namesake)],
  };
}
