/** Codes of the service itself, with three digits: the request, the registry, missing objects, internal failures. */
import { VERSOES } from '../layout/layouts.ts';
import type { Row } from './row.ts';

export const SERVICO: readonly Row[] = [
  {
    codigo: 'E002',
    status: 422,
    statuses: [422, 400],
    mensagem: 'Campo obrigatório não informado, ou código de serviço que não se emite',
    significado:
      'Um elemento obrigatório falta ou está vazio. Também responde assim uma série ou um número fora dos limites (serie com até 5 dígitos, nDPS de 1 a 15) e um cTribNac que não se emite. Nos eventos vem com HTTP 400, quando falta um campo que o tipo do evento exige.',
    comoResolver:
      'Preencha o campo que a resposta aponta; o que se espera dele está em esperado. Para cTribNac, escolha em /catalogo/codigos_tributacao_nacional um código de 6 dígitos que se emita.',
    transitorio: false,
    origem: 'Especificação, Errors: E002; decisões D-12, D-13 e D-50',
    exemplos: {
      rejects: [{ dCompet: null }, { 'serv/cServ/cNBS': null }, { serie: '123456', nDPS: '1' }],
      accepts: [{ dCompet: '2026-10-05' }, { 'serv/cServ/cNBS': '115021000' }, { serie: '12345', nDPS: '1' }],
    },
  },
  {
    codigo: 'E003',
    status: 400,
    statuses: [400, 405, 408, 413, 414, 417, 422, 431],
    mensagem: 'A requisição não tem a forma que este endereço pede',
    significado:
      'Antes de olhar o conteúdo, o serviço não pôde aceitar a requisição: Content-Type ausente ou que não corresponde ao corpo, método que o endereço não atende (405), corpo, endereço ou cabeçalhos grandes demais (413, 414, 431), corpo que toma mais processador do que um pedido pode (413: foi encerrado, e nada ficou gravado), cabeçalho com um valor que não se aceita (417, 422), requisição que não se consegue ler ou que não chegou inteira a tempo (408). Também a Idempotency-Key vazia ou com mais de 255 caracteres (400), e a que já foi usada para outra requisição do mesmo prestador (422). Numa consulta, um parâmetro que ela não tem ou que veio duas vezes: um nome errado seria passado por cima, e a resposta não seria a do que se perguntou.',
    comoResolver:
      'Use o método e o endereço da documentação, com o Content-Type do que está no corpo, em até 1 MiB. A mensagem diz qual desses pontos falhou. Uma Idempotency-Key serve a uma requisição e às repetições dela; para outra, gere outra. Só o 408 se resolve enviando o mesmo de novo.',
    transitorio: false,
    origem: 'Especificação, Errors: E003; decisões D-02 e D-19',
    pedidos: [
      {
        titulo: 'O Content-Type não é o do corpo',
        recusado:
          'POST /integracao/api/v1/nfse/v101\nContent-Type: application/json\n\n<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">…</DPS>',
        aceito:
          'POST /integracao/api/v1/nfse/v101\nContent-Type: application/xml\n\n<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">…</DPS>',
      },
    ],
  },
  {
    codigo: 'E101',
    status: 422,
    mensagem: 'Prestador não cadastrado no município',
    significado:
      'O CNPJ ou CPF de prest não está no cadastro do município deste endereço. No ambiente de integração o prestador é cadastrado pela sua primeira DPS, e o código só vem quando isso não é possível; detalhes diz então documento_invalido, razao_social_obrigatoria ou cidade_padrao_indisponivel.',
    comoResolver:
      'Confira o documento do prestador e o município do endereço de envio. Se ambos estão certos, o cadastro se faz na prefeitura. Na integração, corrija o dígito verificador, preencha prest/xNome ou troque cLocEmi, conforme detalhes.',
    transitorio: false,
    origem: 'Especificação, Errors: E101 e Auto-registration of the provider',
    pedidos: [
      {
        titulo: 'No ambiente de integração, documento_invalido',
        recusado: '<prest>\n  <CNPJ>11222333000182</CNPJ>\n  <xNome>Empresa Exemplo Ltda</xNome>\n  …\n</prest>',
        aceito: '<prest>\n  <CNPJ>11222333000181</CNPJ>\n  <xNome>Empresa Exemplo Ltda</xNome>\n  …\n</prest>',
      },
      {
        titulo: 'No ambiente de integração, razao_social_obrigatoria',
        recusado: '<prest>\n  <CNPJ>11222333000181</CNPJ>\n  <xNome></xNome>\n  …\n</prest>',
        aceito: '<prest>\n  <CNPJ>11222333000181</CNPJ>\n  <xNome>Empresa Exemplo Ltda</xNome>\n  …\n</prest>',
      },
    ],
  },
  {
    codigo: 'E102',
    status: 403,
    mensagem: 'Prestador não autorizado a emitir NFS-e',
    significado: 'O prestador está cadastrado, mas nenhum dos seus estabelecimentos está autorizado a emitir.',
    comoResolver: 'Peça à prefeitura a autorização para emitir NFS-e. Até lá, a mesma DPS terá a mesma resposta.',
    transitorio: false,
    integracao: 'nao_verifica',
    origem: 'Especificação, Errors: E102',
    pedidos: [
      {
        titulo:
          'O que a prefeitura tem no cadastro deste CNPJ, como GET /cidade/api/v1/prestadores/11222333000181/situacao o mostra',
        recusado: '"autorizado": false',
        aceito: '"autorizado": true',
      },
    ],
  },
  {
    codigo: 'E103',
    status: 422,
    mensagem: 'Inscrição municipal não é deste prestador',
    significado:
      'A inscrição de prest/IM não é de nenhum estabelecimento do prestador neste município. Pontuação e zeros à esquerda não contam na comparação.',
    comoResolver: 'Envie a inscrição que está no cadastro da prefeitura, ou retire o elemento IM, que é opcional.',
    transitorio: false,
    integracao: 'nao_verifica',
    origem: 'Especificação, Errors: E103',
    pedidos: [
      {
        titulo: 'No cadastro do município a inscrição do prestador é 123456',
        recusado: '<prest>\n  <CNPJ>11222333000181</CNPJ>\n  <IM>654321</IM>\n  …\n</prest>',
        aceito: '<prest>\n  <CNPJ>11222333000181</CNPJ>\n  <IM>123456</IM>\n  …\n</prest>',
      },
    ],
  },
  {
    codigo: 'E110',
    status: 422,
    mensagem: 'A versão do leiaute não é a deste endereço',
    significado: `A DPS enviada a /nfse/v101 traz em versao outro valor que não ${VERSOES}, ou não traz o atributo. Também acompanha o E111 quando uma DPS ${VERSOES} chega ao endereço antigo.`,
    comoResolver:
      'Envie a DPS completa do leiaute 1.01, com versao="1.01" no elemento DPS, para /api/v1/nfse/v101. Mudar só o atributo não basta: o 1.01 exige cNBS, e tribISSQN mudou de números: 2 é imunidade (era exportação), 3 é exportação (era não incidência) e 4 é não incidência (era imunidade).',
    transitorio: false,
    origem: 'Especificação, Errors: E110; decisão D-14',
    pedidos: [
      {
        recusado:
          'POST /integracao/api/v1/nfse/v101\nContent-Type: application/xml\n\n<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.00">…</DPS>',
        aceito:
          'POST /integracao/api/v1/nfse/v101\nContent-Type: application/xml\n\n<DPS xmlns="http://www.sped.fazenda.gov.br/nfse" versao="1.01">…</DPS>',
      },
    ],
  },
  {
    codigo: 'E111',
    status: 410,
    mensagem: 'O endereço de emissão do leiaute 1.00 foi encerrado',
    significado:
      'POST /api/v1/nfse recebia o leiaute 1.00 e não emite mais. Em detalhes, endpoint_correto traz o endereço que vale. As consultas não mudaram.',
    comoResolver: 'Emita por POST /api/v1/nfse/v101, com a DPS do leiaute 1.01.',
    transitorio: false,
    origem: 'Especificação, Errors: E111; decisão D-14',
    pedidos: [
      {
        recusado: 'POST /integracao/api/v1/nfse\nContent-Type: application/xml',
        aceito: 'POST /integracao/api/v1/nfse/v101\nContent-Type: application/xml',
      },
    ],
  },
  {
    codigo: 'E201',
    status: 422,
    mensagem: 'XML malformado',
    significado:
      'O corpo não é um documento XML bem-formado (a mensagem diz XML malformado), ou é e não se lê aqui (XML não aceito): declara DOCTYPE ou entidades próprias, é profundo ou extenso demais, traz enchimento fora do elemento raiz. A resposta traz linha e coluna onde há um lugar a corrigir, e nada além disso foi verificado.',
    comoResolver:
      'Corrija o ponto que linha e coluna indicam. As causas mais comuns são um & solto, que se escreve &amp;, uma tag que não fecha e um arquivo gravado em codificação diferente da declarada.',
    transitorio: false,
    origem: 'Especificação, Errors: E201',
    pedidos: [
      {
        titulo: 'Um & solto',
        recusado: '<xNome>Silva & Filhos Ltda</xNome>',
        aceito: '<xNome>Silva &amp; Filhos Ltda</xNome>',
      },
    ],
  },
  {
    codigo: 'E202',
    status: 422,
    mensagem: 'Falta um campo obrigatório (nome antigo do E002)',
    significado: 'É o nome antigo do caso que hoje responde E002. Nenhuma resposta o traz.',
    comoResolver: 'Trate o E002.',
    transitorio: false,
    origem: 'Especificação, Errors: E202; decisão D-12',
    substituidoPor: 'E002',
  },
  {
    codigo: 'E203',
    status: 422,
    mensagem: 'A estrutura do documento não é a do leiaute',
    significado:
      'O documento é XML e os nomes existem, mas não estão dispostos como o leiaute manda: ordem trocada, elemento repetido, mais de um de uma escolha, grupo onde se espera um valor, texto solto entre elementos, outro elemento raiz ou outro namespace.',
    comoResolver:
      'Ponha os elementos na ordem do leiaute; a mensagem diz qual vem antes de qual, e correcao traz o grupo em ordem, com os seus comentários, para colar no lugar dele. O esquema dps-1.01.xsd acha os mesmos erros antes do envio.',
    transitorio: false,
    origem: 'Especificação, Errors: E203; decisão D-12',
    exemplos: {
      rejects: [{ 'valores/vDedRed/pDR': '10.00', 'valores/vDedRed/vDR': '100.00' }],
      accepts: [{ 'valores/trib/tribMun/pAliq': '5.00', 'valores/vDedRed/vDR': '100.00' }],
    },
  },
  {
    codigo: 'E301',
    status: 404,
    mensagem: 'Não há nota com esta chave de acesso',
    significado:
      'Nenhuma nota deste município tem a chave do endereço; campo vale chave_acesso. As notas do ambiente de integração e as de produção são procuradas cada uma no seu endereço. Também responde assim a consulta de um evento que a nota não tem: campo é num_seq_evento, e detalhes começa por evento_inexistente.',
    comoResolver:
      'Confira as 50 posições da chave e o município, o primeiro segmento do endereço. Os eventos que a nota tem estão em /eventos, abaixo do endereço da nota.',
    transitorio: false,
    origem: 'Especificação, Errors: E301; decisão D-42',
    pedidos: [
      {
        titulo: 'A nota é do ambiente de integração',
        recusado: 'GET /cidade/api/v1/nfse/{chave_acesso}',
        aceito: 'GET /integracao/api/v1/nfse/{chave_acesso}',
      },
      {
        titulo: 'A nota tem um evento cancelamento e nenhum outro',
        recusado: 'GET /integracao/api/v1/nfse/{chave_acesso}/eventos/cancelamento/2',
        aceito: 'GET /integracao/api/v1/nfse/{chave_acesso}/eventos/cancelamento/1',
      },
    ],
  },
  {
    codigo: 'E302',
    status: 422,
    mensagem: 'A nota já está cancelada, ou um cancelamento dela está em andamento',
    significado:
      'O evento não cabe mais: a nota já foi cancelada, ou outro cancelamento dela ainda não chegou ao fim (pendente, enviado, à espera da autorização, ou em erro com nova tentativa marcada).',
    comoResolver:
      'Consulte os eventos da nota. Se há um cancelamento em andamento, espere o seu resultado; se a nota está cancelada, não há o que registrar.',
    transitorio: false,
    origem: 'Especificação, Errors: E302 e Events; decisão D-50',
    nacional: 'O ADN responde aos conflitos entre eventos com códigos próprios, entre eles o E0840.',
    pedidos: [
      {
        titulo: 'Um cancelamento da nota está em pendente, à espera do ADN',
        recusado:
          'POST /integracao/api/v1/nfse/{chave_acesso}/eventos\nContent-Type: application/json\n\n{ "tipo_evento": "cancelamento", "codigo_motivo_cancelamento": "2", "descricao_motivo_cancelamento": "Serviço contratado que não foi prestado" }',
        aceito: 'GET /integracao/api/v1/nfse/{chave_acesso}/eventos',
      },
    ],
  },
  {
    codigo: 'E303',
    status: 422,
    mensagem: 'DPS em duplicidade (nome antigo do E0014)',
    significado: 'É o nome antigo da repetição de série e número, que hoje responde E0014. Nenhuma resposta o traz.',
    comoResolver: 'Trate o E0014.',
    transitorio: false,
    origem: 'Especificação, Errors: E303; decisão D-13',
    substituidoPor: 'E0014',
  },
  {
    codigo: 'E401',
    status: 422,
    mensagem: 'Valor que tem de ser maior que zero',
    comoResolver:
      'Informe em vServ o preço cheio do serviço, e em vServMoeda o mesmo na moeda estrangeira; descontos, deduções e retenções têm campos próprios.',
    transitorio: false,
  },
  {
    codigo: 'E402',
    status: 422,
    mensagem: 'Código de tributação municipal não cadastrado',
    comoResolver: 'Use um código da lista de serviços do município, ou retire cTribMun: basta o código nacional.',
    transitorio: false,
  },
  {
    codigo: 'E403',
    status: 422,
    mensagem: 'Código IBGE de município não encontrado, ou de outro município',
    significado:
      'Um código de município não está na tabela do IBGE; ou, em produção, cLocEmi é de outro município que não o do endereço de envio.',
    origem: 'Especificação, Errors: E403; decisões D-13 e D-62',
    comoResolver:
      'Use o código de 7 dígitos de /catalogo/municipios, com o dígito verificador. Em produção cLocEmi é o do município que atende no endereço de envio.',
    transitorio: false,
  },
  {
    codigo: 'E404',
    status: 422,
    mensagem: 'O ISSQN ou a base declarados não são os calculados',
    significado:
      'Um corpo JSON declarou o valor do ISSQN ou a sua base, e o declarado não fecha: o ISSQN não é a base vezes a alíquota, ou a base não é o valor do serviço menos o que a reduz, além da tolerância de 0,01. Em XML esses valores não se enviam. O código nada tem a ver com o HTTP 404.',
    comoResolver: 'Corrija o valor declarado, ou deixe o ISSQN e a base de fora: o serviço os calcula.',
    transitorio: false,
    origem: 'Especificação, Errors: E404; decisão D-13',
    nacional: 'O ADN confere as mesmas contas na nota: a base com o E1295, o ISSQN com o E1289.',
  },
  {
    codigo: 'E502',
    status: 422,
    mensagem: 'Código de tributação nacional inválido (nome antigo do E002)',
    significado:
      'É outro nome do cTribNac que não existe na lista nacional, que responde E002. Nenhuma resposta o traz.',
    comoResolver: 'Trate o E002.',
    transitorio: false,
    origem: 'Especificação, Errors: E502; decisão D-13',
    substituidoPor: 'E002',
  },
  {
    codigo: 'E601',
    status: 404,
    mensagem: 'Não encontrado: endereço, município, protocolo, DPS ou tipo de evento',
    significado:
      'O endereço não existe, o primeiro segmento não é de nenhum município atendido, não há nota com o protocolo ou o identificador de DPS pedido, ou não há tipo de evento com o nome do endereço. campo diz qual: municipio, numero_protocolo, id ou tipo_evento.',
    comoResolver:
      'Confira o endereço desde o começo: município, caminho e identificador. O ambiente de integração responde em /integracao.',
    transitorio: false,
    origem: 'Especificação, Errors: E601; decisões D-01 e D-42',
    pedidos: [
      {
        titulo: 'O endereço não começa por um município atendido',
        recusado: 'POST /api/v1/nfse/v101',
        aceito: 'POST /integracao/api/v1/nfse/v101',
      },
    ],
  },
  {
    codigo: 'E703',
    status: 503,
    statuses: [503, 429, 409, 422],
    mensagem: 'A requisição não pode ser atendida agora',
    significado:
      'A requisição não foi processada por um motivo passageiro: excesso de documentos, de consultas vãs ou do que cabe a um documento ou endereço de rede (429), serviço iniciando, sobrecarregado, ou com um banco de dados que não responde, não aceita gravações ou tem ocupado o que esta precisa (503), ou outra operação sobre o mesmo recurso ainda em andamento (409), como o registro de outro evento do mesmo tipo na nota no mesmo instante, ou a primeira requisição com a mesma Idempotency-Key; ou a nota de que se pede o DANFSe ainda não foi autorizada, ou já há tantos endereços de aviso quantos cabem (422).',
    comoResolver:
      'Espere o que diz Retry-After e envie de novo, com intervalos crescentes. Se ficou a dúvida de uma emissão ter sido gravada, reenvie com a mesma Idempotency-Key, e a resposta é a primeira; ou com a mesma série e o mesmo número: se ela existe, a resposta é E0014 com a chave. Antes de pedir de novo um DANFSe, consulte a nota até que nota.status seja autorizada.',
    transitorio: true,
    origem: 'Especificação, Errors: E703; decisões D-02, D-19, D-40 e D-248',
    nacional: 'O E0703 do padrão nacional é outro código: total aproximado dos tributos estaduais fora do intervalo.',
    pedidos: [
      {
        titulo: 'O DANFSe de uma nota que o ADN ainda não autorizou',
        recusado: 'GET /integracao/api/v1/danfse/{chave_acesso}\n\nHTTP/1.1 422\nRetry-After: 1',
        aceito: 'GET /integracao/api/v1/danfse/{chave_acesso}\n\nHTTP/1.1 200\nContent-Type: application/pdf',
      },
      {
        titulo: 'O serviço está sem o banco de dados; a requisição é repetida depois de Retry-After',
        recusado: 'GET /integracao/api/v1/nfse/{chave_acesso}\n\nHTTP/1.1 503\nRetry-After: 5',
        aceito: 'GET /integracao/api/v1/nfse/{chave_acesso}\n\nHTTP/1.1 200',
      },
      {
        titulo: 'Sessenta consultas de chaves que não existem em um minuto; a seguinte, antes e depois de Retry-After',
        recusado: 'GET /integracao/api/v1/nfse/{chave_acesso}\n\nHTTP/1.1 429\nRetry-After: 1',
        aceito: 'GET /integracao/api/v1/nfse/{chave_acesso}\n\nHTTP/1.1 200',
      },
    ],
  },
  {
    codigo: 'E802',
    status: 422,
    mensagem: 'Falta o grupo IBSCBS, ou um campo obrigatório dele',
    significado:
      'A DPS precisa do grupo IBSCBS com CST e cClassTrib. O grupo é devido a partir de uma data de competência, que depende do serviço e da opção pelo Simples Nacional; quem o envia antes dela também o envia completo.',
    comoResolver:
      'Inclua IBSCBS depois de valores, com CST de 3 dígitos e cClassTrib de 6. As alíquotas e os valores são calculados e não se enviam em XML.',
    transitorio: false,
    origem: 'Especificação, Errors: E802 e IBS/CBS obligation schedule; decisão D-13',
    nacional: 'O E0802 do padrão nacional é outro código: identificador de evento já gravado.',
    exemplos: {
      rejects: [{ 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': null }],
      accepts: [{ 'IBSCBS/valores/trib/gIBSCBS/CST': '000', 'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '000001' }],
    },
  },
  {
    codigo: 'E999',
    status: 500,
    mensagem: 'Erro interno',
    significado:
      'Algo falhou dentro do serviço. A resposta não traz pormenores; o cabeçalho X-Request-Id identifica a ocorrência nos nossos registros.',
    comoResolver:
      'Envie de novo uma vez. Se a resposta se repete, informe o X-Request-Id ao suporte. Uma emissão reenviada com a mesma série e o mesmo número não gera duas notas.',
    transitorio: true,
    origem: 'Especificação, Errors: E999; decisão D-02',
    nacional: 'Em respostas do ADN, E999 é um erro sem código próprio.',
    pedidos: [
      {
        titulo: 'Uma falha que o serviço não previu; a requisição é repetida',
        recusado:
          'GET /integracao/api/v1/nfse/{chave_acesso}\n\nHTTP/1.1 500\nX-Request-Id: 7c9e6679-7425-40de-944b-e07fc1f90ae7',
        aceito: 'GET /integracao/api/v1/nfse/{chave_acesso}\n\nHTTP/1.1 200',
      },
    ],
  },
];
